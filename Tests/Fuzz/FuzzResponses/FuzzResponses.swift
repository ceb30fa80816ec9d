// FuzzResponses: the client's reader of responses. The result must not depend on how the bytes are divided.

import FuzzSupport
import RegentHTTPClient
import RegentHTTPCodec

/// Fuzzes one input: eight bytes choose where it is divided, one the method; the rest is a response and the close.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard input.count > 9 else { return 0 }
  let seed = input[..<8].reduce(0) { $0 << 8 | UInt64($1) }
  let method: Method = input[8] & 1 == 0 ? .get : .head
  let stream = Array(input[9...])

  let whole = read(stream, method, ends: [stream.count])
  var splitter = Splitter(seed: seed)
  let pieces = read(stream, method, ends: splitter.ends(stream.count))
  promise("dividing the input does not change the result", whole == pieces, "\(whole) \(pieces)")
  promise(
    "reading byte by byte does not change the result", whole == read(stream, method, ends: Array(1...stream.count)))
  if whole.fault == nil {
    promise("a response to HEAD has no body", method != .head || whole.body.isEmpty)
    promise("an interim response is not returned", whole.status >= 200)
    promise("a connection is reused only after a complete response", !whole.allowsReuse || whole.isComplete)
    for header in whole.headers {
      promise("a header value has no line end", !header.value.utf8.contains { $0 == 10 || $0 == 13 })
      promise("a header value has no NUL", !header.value.utf8.contains(0))
    }
  }
  return 0
}

let limit = 200

struct Answer: Equatable {
  var isComplete = false
  var allowsReuse = false
  var status: UInt16 = 0
  var headers: [ClientHeader] = []
  var body: [UInt8] = []
  var fault: ClientError.Kind?
}

func read(_ stream: [UInt8], _ method: Method, ends: [Int]) -> Answer {
  var reader = ResponseReader(answering: method, bodyLimit: limit)
  var position = 0
  do throws(ClientError.Kind) {
    for end in ends {
      try reader.receive(Array(stream[position..<end]).span)
      position = end
      promise("the body never exceeds the limit", reader.body.count <= limit)
    }
    let mayBeKept = reader.allowsReuse
    try reader.end()
    return Answer(
      isComplete: reader.progress == .complete, allowsReuse: mayBeKept,
      status: reader.status.rawValue, headers: reader.headers, body: reader.body)
  } catch {
    return Answer(fault: error)
  }
}
