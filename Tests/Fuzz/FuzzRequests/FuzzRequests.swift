// FuzzRequests: a whole connection with pipelined heads, bodies and chunks. The result must not depend on how the input
// is divided, and each accepted head must satisfy a simple line-based check of RFC 9112.

import FuzzSupport
import RegentHTTPCodec

/// Fuzzes one input: eight bytes choose where the rest is divided; the rest is what a client sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe bytes(start, count)
  guard input.count > 8 else { return 0 }
  let seed = input[..<8].reduce(0) { $0 << 8 | UInt64($1) }
  let stream = Array(input[8...])

  let whole = read(stream, ends: [stream.count])
  var splitter = Splitter(seed: seed)
  let pieces = read(stream, ends: splitter.ends(stream.count))
  promise("dividing the input does not change the result", whole == pieces, "\(whole)\n  \(pieces)")
  let bytewise = read(stream, ends: Array(1...stream.count))
  promise("reading byte by byte does not change the result", whole == bytewise, "\(whole)\n  \(bytewise)")

  for message in whole.messages { check(message) }
  return 0
}

struct Message: Equatable {
  var head: [UInt8]
  var body: [UInt8]
  var method: Method
  var target: [UInt8]
  var wantsClose: Bool
}

struct Connection: Equatable {
  var messages: [Message] = []
  var fault: MessageError?
  /// The number of bytes that belong to no complete message.
  var rest = 0
}

let bodyLimit = 1000
let limits = HeadLimits(line: 128, fields: 512, count: 8)

/// Reads messages as a server does each time bytes arrive.
func read(_ stream: [UInt8], ends: [Int]) -> Connection {
  var connection = Connection()
  var head = RequestHead()
  var headBytes: [UInt8] = []
  var body: [UInt8] = []
  var chunks: ChunkedDecoder?
  var remaining: Int?
  var taken = 0

  func finish() {
    connection.messages.append(
      Message(
        head: headBytes, body: body, method: head.method,
        target: Array(headBytes[head.target.indices]), wantsClose: head.wantsClose))
    head.reset()
    (headBytes, body, chunks, remaining) = ([], [], nil, nil)
  }

  for end in ends {
    var position = end == ends.first ? 0 : taken
    do throws(MessageError) {
      while position < end {
        if let left = remaining {
          let part = min(left, end - position)
          body += stream[position..<(position + part)]
          position += part
          remaining = left - part
          if left == part { finish() }
        } else if var decoder = chunks {
          position = try decoder.decode(Array(stream[..<end]).span, from: position, into: &body)
          chunks = decoder
          if decoder.isComplete { finish() }
        } else {
          let before = headBytes.count
          headBytes += stream[position..<end]
          guard let length = try head.parse(headBytes.span, limits: limits) else {
            position = end
            break
          }
          headBytes.removeLast(headBytes.count - length)
          position += length - before
          switch head.framing {
          case .none: finish()
          case .length(let length):
            guard length <= bodyLimit else { throw .bodyTooLarge }
            remaining = length
          case .chunked: chunks = ChunkedDecoder(limit: bodyLimit)
          case .untilClose: broken("a request never lasts until the connection closes")
          }
        }
      }
    } catch {
      connection.fault = error
      return connection
    }
    taken = position
  }
  connection.rest = stream.count - taken + headBytes.count + body.count
  return connection
}

/// Checks what RFC 9112 demands of every head, in the simplest way.
func check(_ message: Message) {
  let text = message.head
  promise("a head ends with an empty line", text.suffix(4).elementsEqual([13, 10, 13, 10]))
  for index in text.indices {
    let byte = text[index]
    if byte == 10 { promise("every LF follows a CR", index > 0 && text[index - 1] == 13) }
    if byte == 13 { promise("every CR precedes an LF", text[index + 1] == 10) }
    promise("a head contains no NUL", byte != 0)
  }
  var lines: [[UInt8]] = [[]]
  for byte in text where byte != 13 {
    if byte == 10 { lines.append([]) } else { lines[lines.count - 1].append(byte) }
  }
  if lines[0].isEmpty { lines.removeFirst() }
  let words = lines[0].split(separator: 32, omittingEmptySubsequences: false)
  promise("a request line has three words", words.count == 3)
  let version = String(decoding: words[2], as: UTF8.self)
  promise("the version is HTTP/1.0 or HTTP/1.1", version == "HTTP/1.1" || version == "HTTP/1.0")
  promise(
    "the method is the first word",
    String(decoding: words[0], as: UTF8.self) == message.method.token)
  promise("the target is the second word", Array(words[1]) == message.target)

  var counts: [String: Int] = [:]
  var values: [String: String] = [:]
  for line in lines.dropFirst() where !line.isEmpty {
    guard let colon = line.firstIndex(of: 58) else { broken("a line without a colon was accepted") }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    let allowed = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
    promise("a name is a token", !name.isEmpty && name.allSatisfy(allowed.contains), name)
    counts[name, default: 0] += 1
    values[name] = String(decoding: line[(colon + 1)...], as: UTF8.self)
  }
  promise(
    "there is one Host, or none in HTTP/1.0", counts["host"] == 1 || (counts["host"] == nil && version == "HTTP/1.0"))
  promise("there is at most one Content-Length", counts["content-length", default: 0] <= 1)
  promise("there is at most one Transfer-Encoding", counts["transfer-encoding", default: 0] <= 1)
  let isChunked = counts["transfer-encoding"] == 1
  promise("Content-Length and Transfer-Encoding exclude each other", !(isChunked && counts["content-length"] == 1))
  if isChunked {
    promise("HTTP/1.0 has no Transfer-Encoding", version == "HTTP/1.1")
    promise(
      "Transfer-Encoding is chunked",
      values["transfer-encoding"]?.lowercased().filter { $0 != " " && $0 != "\t" } == "chunked")
  } else {
    let length = values["content-length"].map { $0.filter { $0 != " " && $0 != "\t" } }
    promise(
      "the body is as long as Content-Length", message.body.count == length.map { Int($0) ?? -1 } ?? 0)
  }
  promise("HTTP/1.0 closes the connection", version == "HTTP/1.1" || message.wantsClose)
}
