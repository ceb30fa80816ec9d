// FuzzResponses: the client's reader of responses: however the bytes are cut, the verdict and the answer are the same.

import FuzzSupport
import RegentHTTPClient
import RegentHTTPCodec

/// One input: eight bytes choose the cuts, one the method, the rest is what a server sends before it hangs up.
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
  promise("cutting changes nothing", whole == pieces, "\(whole) \(pieces)")
  promise(
    "byte by byte changes nothing", whole == read(stream, method, ends: Array(1...stream.count)))
  if whole.fault == nil {
    promise("a head has no body", method != .head || whole.body.isEmpty)
    promise("an interim answer is no answer", whole.status >= 200)
    promise("what is kept was asked for", !whole.allowsReuse || whole.isComplete)
    for header in whole.headers {
      promise("no line end in a value", !header.value.utf8.contains { $0 == 10 || $0 == 13 })
      promise("no NUL in a value", !header.value.utf8.contains(0))
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
      promise("never more than the limit", reader.body.count <= limit)
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
