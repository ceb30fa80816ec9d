// FuzzChunks: the decoder of chunked bodies against one that is as plain as can be, and against itself in pieces.

import FuzzSupport
import RegentHTTPCodec

/// One input: eight bytes choose the cuts, the rest is a chunked body and what follows it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard input.count > 8 else { return 0 }
  let seed = input[..<8].reduce(0) { $0 << 8 | UInt64($1) }
  let stream = Array(input[8...])

  let whole = decode(stream, ends: [stream.count])
  var splitter = Splitter(seed: seed)
  promise("cutting changes nothing", whole == decode(stream, ends: splitter.ends(stream.count)))
  promise("byte by byte changes nothing", whole == decode(stream, ends: Array(1...stream.count)))

  let plain = reference(stream)
  switch (whole.fault, whole.isComplete) {
  case (nil, true):
    // What is accepted, a plain reader must read the same way: the same body, ended at the same byte.
    guard let plain else { broken("accepted what a plain reader does not understand") }
    promise("the same body", plain.body == whole.body)
    promise("the same end", plain.end == whole.end, "\(plain.end) \(whole.end)")
  case (nil, false):
    promise("all bytes are taken", whole.end == stream.count)
  case (.some, _):
    break
  }
  // The other way round, for bodies without anything optional: what a plain reader takes must be accepted.
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
      // How much of a refused body came out before the fault is nobody's business.
      return Decoded(fault: error)
    }
    promise("never more than the limit", decoded.body.count <= limit)
    promise("the count is right", decoder.decoded == decoded.body.count)
  }
  decoded.isComplete = decoder.isComplete
  return decoded
}

/// Reads line by line; nil for whatever is not complete and plain.
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
