import RegentHTTPCodec
import Testing

/// Parses a head that arrives in pieces of `size` bytes.
///
/// Returns its length and main facts, or the error.
private func verdict(_ text: String, cutInto size: Int, limits: HeadLimits = HeadLimits()) -> String {
  let bytes = Array(text.utf8)
  var head = RequestHead()
  var shown = 0
  do throws(MessageError) {
    while shown < bytes.count {
      shown = min(bytes.count, shown + size)
      let soFar = Array(bytes[..<shown])
      guard let length = try head.parse(soFar.span, limits: limits) else { continue }
      func spell(_ range: ByteRange?) -> String {
        range.map { String(decoding: bytes[$0.indices], as: UTF8.self) } ?? "-"
      }
      return "\(length) \(head.method) path=\(spell(head.path)) query=\(spell(head.query))"
        + " authority=\(spell(head.authority)) \(head.framing) close=\(head.wantsClose)"
        + " continue=\(head.expectsContinue)"
        + " fields="
        + head.table.fields.map { "\(spell($0.name)):\(spell($0.value))" }
        .joined(separator: "|")
    }
    return "needs more"
  } catch {
    return "\(error.status.rawValue) \(error)"
  }
}

private let host = "Host: example.com\r\n"

@Suite("Request heads")
struct RequestHeadTests {
  static let accepted: [(String, String)] = [
    (
      "GET / HTTP/1.1\r\n\(host)\r\n",
      "37 GET path=/ query=- authority=example.com none close=false continue=false fields=Host:example.com"
    ),
    (
      "\r\nGET / HTTP/1.1\r\n\(host)\r\n",
      "39 GET path=/ query=- authority=example.com none close=false continue=false fields=Host:example.com"
    ),
    (
      "POST /a/b?c=d?&e HTTP/1.1\r\n\(host)Content-Length: 12\r\n\r\nrest",
      "68 POST path=/a/b query=c=d?&e authority=example.com length(12) close=false continue=false"
        + " fields=Host:example.com|Content-Length:12"
    ),
    (
      "GET /? HTTP/1.0\r\nX: \t spaced out \t\r\nempty:\r\n\r\n",
      "46 GET path=/ query= authority=- none close=true continue=false fields=X:spaced out|empty:"
    ),
    (
      "PUT http://other.example:80/p HTTP/1.1\r\n\(host)transfer-encoding: CHUNKED\r\n\r\n",
      "89 PUT path=/p query=- authority=other.example:80 chunked close=false continue=false"
        + " fields=Host:example.com|transfer-encoding:CHUNKED"
    ),
    (
      "GET http://[::1]:8080?q HTTP/1.1\r\n\(host)\r\n",
      "55 GET path= query=q authority=[::1]:8080 none close=false continue=false fields=Host:example.com"
    ),
    (
      "OPTIONS * HTTP/1.1\r\nHost: [2001:db8::1]\r\n\r\n",
      "43 OPTIONS path=* query=- authority=[2001:db8::1] none close=false continue=false"
        + " fields=Host:[2001:db8::1]"
    ),
    (
      "POST / HTTP/1.1\r\n\(host)Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n",
      "79 POST path=/ query=- authority=example.com length(1) close=false continue=true"
        + " fields=Host:example.com|Expect:100-Continue|Content-Length:1"
    ),
    (
      "GET / HTTP/1.1\r\n\(host)Connection: keep-alive , Close\r\n\r\n",
      "69 GET path=/ query=- authority=example.com none close=true continue=false"
        + " fields=Host:example.com|Connection:keep-alive , Close"
    ),
    (
      "DELETE /%41?a[]=1|2 HTTP/1.1\r\n\(host)Content-Length: 0\r\n\r\n",
      "70 DELETE path=/%41 query=a[]=1|2 authority=example.com none close=false continue=false"
        + " fields=Host:example.com|Content-Length:0"
    ),
  ]

  @Test("a well-formed request head is parsed alike in pieces of any size", arguments: accepted)
  func accepts(text: String, expected: String) {
    for size in [text.utf8.count, 1, 2, 7] { #expect(verdict(text, cutInto: size) == expected) }
  }

  static let refused: [(String, MessageError)] = [
    ("GET / HTTP/1.1\r\n\r\n", .missingHost),
    ("GET / HTTP/1.1\r\n\(host)\(host)\r\n", .repeatedHost),
    ("GET / HTTP/1.1\r\nHost:\r\n\r\n", .host),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .host),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .host),
    ("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", .host),
    ("GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", .host),
    ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", .host),
    ("GET http://user@evil/ HTTP/1.1\r\n\(host)\r\n", .host),
    ("GET ftp://evil/ HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET http:///x HTTP/1.1\r\n\(host)\r\n", .host),
    ("GET evil HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET * HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET /a[b HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET /a#b HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET /a\\b HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET /\u{0} HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET /\u{e9} HTTP/1.1\r\n\(host)\r\n", .target),
    ("GET /a b HTTP/1.1\r\n\(host)\r\n", .requestLine),
    ("GET  / HTTP/1.1\r\n\(host)\r\n", .requestLine),
    ("GET / HTTP/1.1 \r\n\(host)\r\n", .requestLine),
    ("GET /\r\n", .requestLine),
    ("GET / \r\n", .requestLine),
    ("GET / http/1.1\r\n\(host)\r\n", .requestLine),
    ("GET / HTTP/9.9\r\n\(host)\r\n", .version),
    ("PRI * HTTP/2.0\r\n\r\n", .method),
    ("GET / HTTP/1.1\n\(host)\r\n", .lineEnding),
    ("GET / HTTP/1.1\r\r\n\(host)\r\n", .lineEnding),
    ("\r\n\r\nGET / HTTP/1.1\r\n\(host)\r\n", .requestLine),
    (" GET / HTTP/1.1\r\n\(host)\r\n", .requestLine),
    ("get / HTTP/1.1\r\n\(host)\r\n", .method),
    ("BREW / HTTP/1.1\r\n\(host)\r\n", .method),
    ("CONNECT a:1 HTTP/1.1\r\n\(host)\r\n", .method),
    ("G\u{1}T / HTTP/1.1\r\n\(host)\r\n", .requestLine),
    ("\u{16}\u{3}\u{1}\u{2}\u{0}", .requestLine),
    ("GET / HTTP/1.1\r\n\(host)X : 1\r\n\r\n", .fieldName),
    ("GET / HTTP/1.1\r\n\(host)X[]: 1\r\n\r\n", .fieldName),
    ("GET / HTTP/1.1\r\n\(host): 1\r\n\r\n", .fieldName),
    ("GET / HTTP/1.1\r\n\(host)X\r\n\r\n", .fieldName),
    ("GET / HTTP/1.1\r\n X: 1\r\n\(host)\r\n", .foldedLine),
    ("GET / HTTP/1.1\r\n\(host)X: a\r\n b\r\n\r\n", .foldedLine),
    ("GET / HTTP/1.1\r\n\(host)X: a\u{0}b\r\n\r\n", .fieldValue),
    ("GET / HTTP/1.1\r\n\(host)X: a\u{7f}b\r\n\r\n", .fieldValue),
    ("GET / HTTP/1.1\r\n\(host)X: a\rb\r\n\r\n", .lineEnding),
    ("GET / HTTP/1.1\r\n\(host)X: a\n\r\n", .lineEnding),
    ("GET / HTTP/1.1\r\n\(host)X: a\r\n\n", .lineEnding),
    ("GET / HTTP/1.1\r\n\(host)Connection: a b\r\n\r\n", .fieldValue),
    (
      "POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
      .repeatedContentLength
    ),
    (
      "POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\nContent-Length: 3\r\n\r\n",
      .repeatedContentLength
    ),
    ("POST / HTTP/1.1\r\n\(host)Content-Length: 3, 3\r\n\r\n", .contentLength),
    ("POST / HTTP/1.1\r\n\(host)Content-Length: +3\r\n\r\n", .contentLength),
    ("POST / HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n", .contentLength),
    ("POST / HTTP/1.1\r\n\(host)Content-Length: 0x3\r\n\r\n", .contentLength),
    ("POST / HTTP/1.1\r\n\(host)Content-Length: 3abc\r\n\r\n", .contentLength),
    ("POST / HTTP/1.1\r\n\(host)Content-Length:\r\n\r\n", .contentLength),
    ("POST / HTTP/1.1\r\n\(host)Content-Length: 100000000000000000000\r\n\r\n", .bodyTooLarge),
    (
      "POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
      .contentLengthAndTransferEncoding
    ),
    (
      "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
      .contentLengthAndTransferEncoding
    ),
    (
      "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      .repeatedTransferEncoding
    ),
    ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: xchunked\r\n\r\n", .transferCoding),
    ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n", .transferCoding),
    ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked, identity\r\n\r\n", .transferEncoding),
    ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding:\r\n\r\n", .transferEncoding),
    ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInOldVersion),
    ("POST / HTTP/1.1\r\n\(host)Expect: tea\r\n\r\n", .expectation),
  ]

  @Test("a malformed request head is refused with the same error in pieces of any size", arguments: refused)
  func refuses(text: String, error: MessageError) {
    for size in [text.utf8.count, 1, 3] {
      #expect(verdict(text, cutInto: size) == "\(error.status.rawValue) \(error)", "cut \(size)")
    }
  }

  @Test("the parser waits for more bytes after every shorter part of a valid head", arguments: accepted)
  func waits(text: String, expected: String) {
    let length = expected.split(separator: " ").first.flatMap { Int($0) } ?? 0
    for end in 1..<length {
      let part = String(decoding: text.utf8.prefix(end), as: UTF8.self)
      #expect(verdict(part, cutInto: end) == "needs more")
    }
  }

  @Test(arguments: [1, 5, 100_000])
  func `the limits on a request head are exact to the byte`(size: Int) {
    let limits = HeadLimits(line: 64, fields: 100, count: 3)
    func line(_ count: Int) -> String {
      "GET /" + String(repeating: "a", count: count - 16) + " HTTP/1.1\r\n"
    }
    #expect(verdict("\(line(64))\(host)\r\n", cutInto: size, limits: limits).hasPrefix("85 GET"))
    #expect(verdict("\(line(65))\(host)\r\n", cutInto: size, limits: limits).hasPrefix("414"))
    func fields(_ count: Int) -> String {
      line(40) + host + "X: " + String(repeating: "a", count: count - 19 - 5 - 2) + "\r\n\r\n"
    }
    #expect(verdict(fields(100), cutInto: size, limits: limits).hasPrefix("140 GET"))
    #expect(verdict(fields(101), cutInto: size, limits: limits).hasPrefix("431"))
    let three = "\(line(40))\(host)A: 1\r\nB: 2\r\n"
    #expect(verdict("\(three)\r\n", cutInto: size, limits: limits).contains("B:2"))
    #expect(verdict("\(three)C: 3\r\n\r\n", cutInto: size, limits: limits).hasPrefix("431"))
  }

  @Test func `a parser can read the next head after a reset`() throws {
    var head = RequestHead()
    let first = Array("POST /x?y HTTP/1.0\r\nContent-Length: 5\r\nExpect: x\r\n\r\n".utf8)
    let second = Array("GET / HTTP/1.1\r\nHost: b\r\n\r\n".utf8)
    #expect(try head.parse(first.span, limits: HeadLimits()) == first.count)
    head.reset()
    #expect(try head.parse(second.span, limits: HeadLimits()) == second.count)
    #expect(head.query == nil && head.framing == .none && !head.wantsClose)
    #expect(head.table.fields.count == 1)
    #expect(head.table.first(.host, in: second.span).map { second[$0.indices] } == [0x62])
  }

  @Test func `every parse error has an HTTP error status and a sentence`() {
    for error in MessageError.allCases {
      #expect((400..<600).contains(error.status.rawValue))
      #expect(error.description.hasSuffix("."))
    }
  }
}
