import RegentHTTPCodec
import Testing

private func verdict(_ text: String, cutInto size: Int, answering method: Method) -> String {
  let bytes = Array(text.utf8)
  var head = ResponseHead()
  var shown = 0
  do throws(MessageError) {
    while shown < bytes.count {
      shown = min(bytes.count, shown + size)
      let soFar = Array(bytes[..<shown])
      if let length = try head.parse(soFar.span, limits: HeadLimits()) {
        return "\(length) \(head.status.rawValue) \(head.framing(answering: method))"
          + " close=\(head.wantsClose) fields=\(head.table.fields.count)"
      }
    }
    return "needs more"
  } catch {
    return "\(error)"
  }
}

@Suite("Response heads")
struct ResponseHeadTests {
  static let heads: [(String, Method, String)] = [
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", .get,
      "38 200 length(3) close=false fields=1"
    ),
    ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", .head, "38 200 none close=false fields=1"),
    (
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .get,
      "47 200 chunked close=false fields=1"
    ),
    ("HTTP/1.1 200 \r\nConnection: close\r\n\r\n", .get, "36 200 untilClose close=true fields=1"),
    ("HTTP/1.1 200\r\n\r\n", .get, "16 200 untilClose close=false fields=0"),
    ("HTTP/1.0 404 Not Found\r\n\r\n", .get, "26 404 untilClose close=true fields=0"),
    ("HTTP/1.1 204 No Content\r\n\r\n", .get, "27 204 none close=false fields=0"),
    (
      "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", .get,
      "48 304 none close=false fields=1"
    ),
    ("HTTP/1.1 100 Continue\r\n\r\n", .post, "25 100 none close=false fields=0"),
    ("HTTP/2 200 OK\r\n\r\n", .get, "\(MessageError.statusLine)"),
    ("HTTP/1.2 200 OK\r\n\r\n", .get, "\(MessageError.version)"),
    ("HTTP/1.1 20 OK\r\n\r\n", .get, "\(MessageError.statusLine)"),
    ("HTTP/1.1 099 OK\r\n\r\n", .get, "\(MessageError.statusLine)"),
    ("HTTP/1.1 200 O\u{0}K\r\n\r\n", .get, "\(MessageError.statusLine)"),
    ("HTTP/1.1 200 OK\n\r\n", .get, "\(MessageError.statusLine)"),
    ("<html>\r\n", .get, "\(MessageError.statusLine)"),
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", .get,
      "\(MessageError.repeatedContentLength)"
    ),
    (
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", .get,
      "\(MessageError.contentLengthAndTransferEncoding)"
    ),
    ("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", .get, "\(MessageError.foldedLine)"),
  ]

  @Test("a response head is parsed alike in pieces of any size", arguments: heads)
  func reads(text: String, method: Method, expected: String) {
    for size in [1000, 1, 4] {
      #expect(verdict(text, cutInto: size, answering: method) == expected, "cut \(size)")
    }
  }
}
