// FuzzForms: compares percent-decoding and forms with a simple reference decoder, and encodes and decodes the result.

import FuzzSupport
import RegentHTTPCodec

/// Fuzzes one input, an encoded form.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  let plain = reference(input, plusIsSpace: false)
  promise("bytes decode as the reference decodes them", (try? PercentDecoding.bytes(input.span)) == plain)
  let text = try? PercentDecoding.text(input.span)
  promise("text decodes as the reference decodes it", text.map { Array($0.utf8) } == plain.flatMap(ifText))
  if let text {
    promise("decoded text has no NUL", text.utf8.allSatisfy { $0 != 0 })
    let again = try? PercentDecoding.text(PercentEncoding.component(text))
    promise("encoded text decodes to itself", again.map { Array($0.utf8) } == Array(text.utf8))
  }

  let limits = FormParameters.Limits(parameters: 20, bytes: 2000)
  let form = try? FormParameters(encoded: input.span, limits: limits)
  var pairs: [[[UInt8]]]? = []
  for piece in input.split(separator: 38) {
    let equals = piece.firstIndex(of: 61)
    let name = Array(piece[..<(equals ?? piece.endIndex)])
    let value = equals.map { Array(piece[($0 + 1)...]) } ?? []
    let decoded = [name, value].compactMap { reference($0, plusIsSpace: true).flatMap(ifText) }
    if decoded.count == 2 { pairs?.append(decoded) } else { pairs = nil }
    if pairs == nil { break }
  }
  if input.count > 2000 || pairs.map({ $0.count > 20 }) ?? false { pairs = nil }
  promise(
    "forms decode as the reference decodes them",
    form?.all.map { [Array($0.name.utf8), Array($0.value.utf8)] } == pairs)
  if let form {
    let encoded = PercentEncoding.form(form.all.map { ($0.name, $0.value) })
    // Escapes are longer than the bytes they stand for, so the re-encoded form needs a higher limit.
    let wide = FormParameters.Limits(parameters: 20, bytes: 10_000)
    promise(
      "an encoded form decodes to itself",
      (try? FormParameters(encoded: Array(encoded.utf8).span, limits: wide)) == form)
    for parameter in form.all {
      let values = form.values(of: parameter.name)
      switch form.occurrence(of: parameter.name) {
      case .absent: broken("an existing parameter is reported as absent")
      case .once(let value): promise("a parameter reported once has one value", values == [value])
      case .repeated(let all):
        promise("a parameter reported as repeated has all its values", all == values && all.count > 1)
      }
    }
  }
  return 0
}

func ifText(_ bytes: [UInt8]) -> [UInt8]? {
  String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
}

func reference(_ input: [UInt8], plusIsSpace: Bool) -> [UInt8]? {
  var decoded: [UInt8] = []
  var rest = input[...]
  while let byte = rest.popFirst() {
    switch byte {
    case 0: return nil
    case 37:
      let digits = Array("0123456789abcdef")
      let pair = String(decoding: rest.prefix(2), as: UTF8.self).lowercased()
      guard pair.utf8.count == 2, let high = pair.first.flatMap({ digits.firstIndex(of: $0) }),
        let low = pair.last.flatMap({ digits.firstIndex(of: $0) }), high + low > 0
      else { return nil }
      decoded.append(UInt8(high * 16 + low))
      rest = rest.dropFirst(2)
    case 43 where plusIsSpace: decoded.append(32)
    default: decoded.append(byte)
    }
  }
  return decoded
}
