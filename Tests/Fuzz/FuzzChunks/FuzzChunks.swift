// FuzzChunks: compares the decoder of chunked bodies with a simple reference decoder, and with itself on divided input.

import FuzzSupport
import RegentHTTPCodec

/// Fuzzes one input: eight bytes choose where the rest is divided; the rest is a chunked body and trailing bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard input.count > 8 else { return 0 }
  let seed = input[..<8].reduce(0) { $0 << 8 | UInt64($1) }
  let stream = Array(input[8...])

  let whole = decode(stream, ends: [stream.count])
  var splitter = Splitter(seed: seed)
  promise("dividing the input does not change the result", whole == decode(stream, ends: splitter.ends(stream.count)))
  promise("reading byte by byte does not change the result", whole == decode(stream, ends: Array(1...stream.count)))

  let plain = reference(stream)
  switch (whole.fault, whole.isComplete) {
  case (nil, true):
    // The reference decoder must read an accepted body in the same way: same bytes, same end.
    guard let plain else { broken("the reference decoder cannot read an accepted body") }
    promise("the body equals that of the reference", plain.body == whole.body)
    promise("the body ends where the reference ends it", plain.end == whole.end, "\(plain.end) \(whole.end)")
  case (nil, false):
    promise("an incomplete body has consumed all bytes", whole.end == stream.count)
  case (.some, _):
    break
  }
  // In the other direction only bodies without extensions and trailers must be accepted.
  if let plain, plain.isBare, plain.body.count <= limit {
    promise("a plain body is accepted", whole.isComplete && whole.fault == nil, "\(whole)")
  }
  return 0
}

let limit = 300

struct Decoded: Equatable {
  var body: [UInt8] = []
  var end = 0
  var isComplete = false
  var fault: MessageError?
}

func decode(_ stream: [UInt8], ends: [Int]) -> Decoded {
  var decoder = ChunkedDecoder(limit: limit)
  var decoded = Decoded()
  for end in ends where !decoder.isComplete {
    do throws(MessageError) {
      decoded.end = try decoder.decode(
        Array(stream[..<end]).span, from: decoded.end, into: &decoded.body)
    } catch {
      // The number of bytes that were decoded before the fault may differ.
      return Decoded(fault: error)
    }
    promise("the body never exceeds the limit", decoded.body.count <= limit)
    promise("the number of decoded bytes is right", decoder.decoded == decoded.body.count)
  }
  decoded.isComplete = decoder.isComplete
  return decoded
}

/// Reads a body line by line.
///
/// Returns nil when the body is incomplete or the reference cannot read it.
func reference(_ stream: [UInt8]) -> (body: [UInt8], end: Int, isBare: Bool)? {
  var body: [UInt8] = []
  var position = 0
  var isBare = true

  func line() -> [UInt8]? {
    var end = position
    while end + 1 < stream.count {
      if stream[end] == 13, stream[end + 1] == 10 {
        defer { position = end + 2 }
        return Array(stream[position..<end])
      }
      end += 1
    }
    return nil
  }

  while true {
    guard let sizeLine = line() else { return nil }
    let digits = sizeLine.prefix { byte in
      (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
    if digits.count != sizeLine.count || digits.count > 15 { isBare = false }
    guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else { return nil }
    if size == 0 { break }
    guard size <= stream.count - position else { return nil }
    body += stream[position..<(position + size)]
    position += size
    guard let end = line(), end.isEmpty else { return nil }
  }
  while let trailer = line() {
    if trailer.isEmpty { return (body, position, isBare) }
    isBare = false
  }
  return nil
}
