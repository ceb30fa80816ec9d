// The cases about the length of bodies, about sizes, and about requests that must be served.

private func post(_ fields: String..., body: String = "") -> String {
  "POST /case HTTP/1.1\r\nHost: test.example\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    + body
}

private func chunked(_ body: String) -> String {
  post("Transfer-Encoding: chunked", body: body)
}

extension WireCase {
  public static let lengths: [WireCase] = [
    WireCase(
      "two different lengths", post("Content-Length: 3", "Content-Length: 4", body: "abcd"),
      .refused(400)),
    WireCase(
      "the same length twice", post("Content-Length: 3", "Content-Length: 3", body: "abc"),
      .refused(400)),
    WireCase("a list of lengths", post("Content-Length: 3, 3", body: "abc"), .refused(400)),
    WireCase("length with a plus", post("Content-Length: +3", body: "abc"), .refused(400)),
    WireCase("length with a minus", post("Content-Length: -3", body: "abc"), .refused(400)),
    WireCase("hexadecimal length", post("Content-Length: 0x3", body: "abc"), .refused(400)),
    WireCase(
      "length with letters behind", post("Content-Length: 3abc", body: "abc"), .refused(400)),
    WireCase("length with a fraction", post("Content-Length: 3.0", body: "abc"), .refused(400)),
    WireCase("length with a space inside", post("Content-Length: 1 3", body: "abc"), .refused(400)),
    WireCase("length in quotes", post("Content-Length: \"3\"", body: "abc"), .refused(400)),
    WireCase(
      "length with a vertical tab", post("Content-Length: \u{B}3", body: "abc"), .refused(400)),
    WireCase("empty length", post("Content-Length:", body: "abc"), .refused(400)),
    WireCase(
      "length with other digits", post("Content-Length: \u{B3}", body: "abc"), .refused(400)),
    WireCase(
      "length of 1e20", post("Content-Length: 100000000000000000000", body: "abc"), .refused(413)),
    WireCase(
      "length of 2^64 + 3", post("Content-Length: 18446744073709551619", body: "abc"), .refused(413)
    ),
    WireCase(
      "length of 2^63 - 1", post("Content-Length: 9223372036854775807", body: "abc"), .refused(413)),
    WireCase(
      "length over the limit", post("Content-Length: 1000000000", body: "abc"), .refused(413)),
    WireCase(
      "space before the colon of the length", post("Content-Length : 3", body: "abc"), .refused(400)
    ),
    WireCase(
      "length folded into the next line", post("Content-Length:", " 3", body: "abc"), .refused(400)),
    WireCase(
      "length hidden behind a bare CR", post("X-A: b\rContent-Length: 50", body: ""), .refused(400)),
    WireCase(
      "length hidden behind a NUL", post("X-A: b\0Content-Length: 50", body: ""), .refused(400)),
  ]

  public static let codings: [WireCase] = [
    WireCase(
      "length, then chunked",
      post("Content-Length: 4", "Transfer-Encoding: chunked", body: "0\r\n\r\n"), .refused(400)),
    WireCase(
      "chunked, then length",
      post("Transfer-Encoding: chunked", "Content-Length: 4", body: "0\r\n\r\n"), .refused(400)),
    WireCase(
      "chunked twice",
      post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body: "0\r\n\r\n"),
      .refused(400)),
    WireCase(
      "chunked, then another coding",
      post("Transfer-Encoding: chunked", "Transfer-Encoding: identity", body: "0\r\n\r\n"),
      .refused(400)),
    WireCase(
      "another coding, then chunked",
      post("Transfer-Encoding: x", "Transfer-Encoding: chunked", body: "0\r\n\r\n"), .refused(501)),
    WireCase("xchunked", post("Transfer-Encoding: xchunked", body: "0\r\n\r\n"), .refused(501)),
    WireCase("chunkedx", post("Transfer-Encoding: chunkedx", body: "0\r\n\r\n"), .refused(501)),
    WireCase(
      "chunked, identity", post("Transfer-Encoding: chunked, identity", body: "0\r\n\r\n"),
      .refused(400)),
    WireCase(
      "gzip, chunked", post("Transfer-Encoding: gzip, chunked", body: "0\r\n\r\n"), .refused(501)),
    WireCase(
      "chunked, chunked", post("Transfer-Encoding: chunked, chunked", body: "0\r\n\r\n"),
      .refused(501)),
    WireCase("identity", post("Transfer-Encoding: identity", "Content-Length: 0"), .refused(501)),
    WireCase(
      "chunked with a parameter", post("Transfer-Encoding: chunked;a=b", body: "0\r\n\r\n"),
      .refused(501)),
    WireCase(
      "chunked in quotes", post("Transfer-Encoding: \"chunked\"", body: "0\r\n\r\n"), .refused(501)),
    WireCase("empty coding", post("Transfer-Encoding:", body: "0\r\n\r\n"), .refused(400)),
    WireCase(
      "chunked after a vertical tab", post("Transfer-Encoding: \u{B}chunked", body: "0\r\n\r\n"),
      .refused(400)),
    WireCase(
      "chunked after a comma", post("Transfer-Encoding: , chunked", body: "0\r\n\r\n"),
      .refused(501)),
    WireCase(
      "space before the colon of the coding",
      post("Transfer-Encoding : chunked", body: "0\r\n\r\n"), .refused(400)),
    WireCase(
      "coding folded into the next line", post("Transfer-Encoding:", " chunked", body: "0\r\n\r\n"),
      .refused(400)),
    WireCase(
      "coding in HTTP/1.0",
      "POST /case HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .refused(400)
    ),
  ]

  /// Faults in the chunks.
  ///
  /// The head is valid, so the fault is found while the body is read.
  public static let chunks: [WireCase] = [
    WireCase("chunk size with 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("negative chunk size", chunked("-3\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("chunk size with a plus", chunked("+3\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("no chunk size", chunked("\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("only an extension", chunked(";a=b\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("chunk size that is no number", chunked("g\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase(
      "chunk size beyond 64 bits", chunked("10000000000000003\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase(
      "chunk size of 2^63 - 1", chunked("7fffffffffffffff\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("chunk size over the limit", chunked("3b9aca00\r\nabc\r\n0\r\n\r\n"), .refused(413)),
    WireCase("space before the chunk size", chunked(" 3\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("space after the chunk size", chunked("3 \r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("no CR LF after the data", chunked("3\r\nabc0\r\n\r\n"), .refused(400)),
    WireCase("more data than the size says", chunked("3\r\nabcd\r\n0\r\n\r\n"), .refused(400)),
    WireCase("bare LF after the chunk size", chunked("3\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("bare CR after the chunk size", chunked("3\rabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("bare LF after the data", chunked("3\r\nabc\n0\r\n\r\n"), .refused(400)),
    WireCase("bare LF in the last chunk", chunked("3\r\nabc\r\n0\n\r\n"), .refused(400)),
    WireCase("bare LF ends the trailer", chunked("3\r\nabc\r\n0\r\n\n"), .refused(400)),
    WireCase("empty extension", chunked("3;\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("empty last extension", chunked("3;a;\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("extension without a name", chunked("3;=b\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("extension without a value", chunked("3;a=\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("extension with two values", chunked("3;a=b c\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase(
      "extension: value behind quotes", chunked("3;a=\"b\"c\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("extension: blank at the end", chunked("3;a=b \r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("bare LF in an extension", chunked("3;a\nb\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("bare CR in an extension", chunked("3;a\rb\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase("NUL in an extension", chunked("3;a\0\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase(
      "CR LF in a quoted extension", chunked("3;a=\"\r\n\"\r\nabc\r\n0\r\n\r\n"), .refused(400)),
    WireCase(
      "endless extension", chunked("3;a=" + String(repeating: "b", count: 70_000)), .refused(400)),
    WireCase(
      "many extensions", chunked(String(repeating: "1;abcdefghijklmno\r\nx\r\n", count: 2000)),
      .refused(400)),
    WireCase("folded trailer", chunked("0\r\nX-A: b\r\n c\r\n\r\n"), .refused(400)),
    WireCase("trailer without a colon", chunked("0\r\nX-A\r\n\r\n"), .refused(400)),
    WireCase("NUL in a trailer", chunked("0\r\nX-A: \0\r\n\r\n"), .refused(400)),
    WireCase(
      "endless trailer", chunked("0\r\nX-A: " + String(repeating: "b", count: 70_000)),
      .refused(400)),
    WireCase(
      "many trailers", chunked("0\r\n" + String(repeating: "X: y\r\n", count: 2000)), .refused(400)),
    WireCase(
      "request instead of a chunk", chunked("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
      .refused(400)),
  ]

  public static let sizes: [WireCase] = [
    WireCase(
      "target of 10 KB",
      "GET /" + String(repeating: "a", count: 10_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
      .refused(414)),
    WireCase(
      "target without an end", "GET /" + String(repeating: "a", count: 70_000), .refused(414)),
    WireCase(
      "query of 10 KB",
      "GET /?" + String(repeating: "a", count: 10_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
      .refused(414)),
    WireCase(
      "value of 40 KB", post("X-A: " + String(repeating: "b", count: 40_000)), .refused(431)),
    WireCase(
      "value without an end",
      "GET /case HTTP/1.1\r\nHost: a\r\nX-A: " + String(repeating: "b", count: 70_000),
      .refused(431)),
    WireCase(
      "name without an end",
      "GET /case HTTP/1.1\r\nHost: a\r\n" + String(repeating: "b", count: 70_000), .refused(431)),
    WireCase(
      "300 fields",
      "GET /case HTTP/1.1\r\nHost: a\r\n" + String(repeating: "A: b\r\n", count: 300) + "\r\n",
      .refused(431)),
    WireCase("method without an end", String(repeating: "A", count: 70_000), .refused(501)),
    WireCase(
      "body over the limit",
      post("Content-Length: 200000", body: String(repeating: "a", count: 200_000)), .refused(413)),
    WireCase(
      "chunks over the limit",
      chunked(
        String(repeating: "4000\r\n" + String(repeating: "a", count: 16_384) + "\r\n", count: 10)
          + "0\r\n\r\n"), .refused(413)),
  ]

  /// Requests that a strict server must serve, because refusing too much is a fault as well.
  public static let wellFormed: [WireCase] = [
    WireCase("plain GET", "GET /case HTTP/1.1\r\nHost: test.example\r\n\r\n", .served(1)),
    WireCase(
      "one empty line first", "\r\nGET /case HTTP/1.1\r\nHost: test.example\r\n\r\n", .served(1)),
    WireCase(
      "two pipelined",
      String(repeating: "GET /case HTTP/1.1\r\nHost: test.example\r\n\r\n", count: 2), .served(2)),
    WireCase(
      "empty line between pipelined",
      "GET /case HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /case HTTP/1.1\r\nHost: a\r\n\r\n", .served(2)),
    WireCase(
      "POST, then GET",
      post("Content-Length: 3", body: "abc") + "GET /case HTTP/1.1\r\nHost: a\r\n\r\n", .served(2)),
    WireCase(
      "body that looks like a request",
      post("Content-Length: 40", body: "GET /smuggled HTTP/1.1\r\nHost: abcdef\r\n\r\n"), .served(1)
    ),
    WireCase(
      "GET with a body", "GET /case HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", .served(1)
    ),
    WireCase("length with zeros first", post("Content-Length: 003", body: "abc"), .served(1)),
    WireCase(
      "blanks around a value", "GET /case HTTP/1.1\r\nHost: \t test.example \t \r\n\r\n", .served(1)
    ),
    WireCase(
      "no blank before a value", "GET /case HTTP/1.1\r\nHost:test.example\r\nX-A:\r\n\r\n",
      .served(1)),
    WireCase(
      "bytes above ASCII in a value", "GET /case HTTP/1.1\r\nHost: a\r\nX-A: \u{E9}\r\n\r\n",
      .served(1)),
    WireCase("chunks", chunked("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"), .served(1)),
    WireCase(
      "Chunked in other letters", post("transfer-encoding: CHUNKED", body: "3\r\nabc\r\n0\r\n\r\n"),
      .served(1)),
    WireCase("chunk sizes with zeros first", chunked("0003\r\nabc\r\n000\r\n\r\n"), .served(1)),
    WireCase("chunk extensions", chunked("3;a=b;c=\"d;e\\\"\"\r\nabc\r\n0;x\r\n\r\n"), .served(1)),
    WireCase("trailer", chunked("3\r\nabc\r\n0\r\nX-Check: 1\r\n\r\n"), .served(1)),
    WireCase(
      "chunks, then GET",
      chunked("3\r\nabc\r\n0\r\n\r\n") + "GET /case HTTP/1.1\r\nHost: a\r\n\r\n", .served(2)),
    WireCase(
      "absolute-form", "GET http://test.example/case HTTP/1.1\r\nHost: test.example\r\n\r\n",
      .served(1)),
    WireCase(
      "absolute-form without a path",
      "GET http://test.example HTTP/1.1\r\nHost: test.example\r\n\r\n", .served(1)),
    WireCase("asterisk-form", "OPTIONS * HTTP/1.1\r\nHost: test.example\r\n\r\n", .served(1)),
    WireCase("IPv6 Host", "GET /case HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", .served(1)),
    WireCase("query with brackets", "GET /case?a[]=1 HTTP/1.1\r\nHost: a\r\n\r\n", .served(1)),
  ]

  /// Requests that are served as the last one of their connection.
  public static let lastOnes: [WireCase] = [
    WireCase("HTTP/1.0", "GET /case HTTP/1.0\r\nHost: test.example\r\n\r\n", .servedLast),
    WireCase("HTTP/1.0 without Host", "GET /case HTTP/1.0\r\n\r\n", .servedLast),
    WireCase(
      "HTTP/1.0 that asks to stay", "GET /case HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      .servedLast),
    WireCase(
      "HTTP/1.0 with a body", "POST /case HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", .servedLast),
    WireCase(
      "Connection: close", "GET /case HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", .servedLast
    ),
    WireCase(
      "close among others", "GET /case HTTP/1.1\r\nHost: a\r\nConnection: x, Close , y\r\n\r\n",
      .servedLast),
    WireCase(
      "close and keep-alive",
      "GET /case HTTP/1.1\r\nHost: a\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n",
      .servedLast),
  ]
}
