/// Bytes that a client might send, and what a strict server does with them.
public struct WireCase: Sendable, CustomStringConvertible {
  public enum Outcome: Sendable, Equatable {
    /// One response with this status, after which the connection is closed. No handler is called, and nothing after
    /// the fault is read.
    case refused(UInt16)
    /// This many requests are served, and then the one that follows.
    case served(Int)
    /// One request is served and the connection closed without reading what follows.
    case servedLast
  }

  /// The name in the output of the tests.
  public let name: String
  public let bytes: [UInt8]
  public let outcome: Outcome

  /// Creates a case.
  ///
  /// Each character of `text` is one byte and must be below U+0100.
  public init(_ name: String, _ text: String, _ outcome: Outcome) {
    self.name = name
    bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    self.outcome = outcome
  }

  public var description: String { name }

  /// The request after the fault.
  ///
  /// A server that serves it has lost track of where requests end.
  public static let follower = Array(
    "GET /smuggled HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n".utf8)
}

/// A request with this request line and these header fields.
///
/// Host is added.
private func request(_ line: String, _ fields: String...) -> String {
  "\(line)\r\nHost: test.example\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
}

extension WireCase {
  /// All cases: the parts of RFC 9112 and RFC 9110 that servers are known to get wrong, and the right response.
  public static let all =
    requestLines + targets + hosts + fieldLines + lengths + codings + chunks + sizes + wellFormed
    + lastOnes

  public static let requestLines: [WireCase] = [
    WireCase("no version (HTTP/0.9)", "GET /case\r\nHost: test.example\r\n\r\n", .refused(400)),
    WireCase("only a method", "GET\r\n\r\n", .refused(400)),
    WireCase("nothing before the version", " HTTP/1.1\r\n\r\n", .refused(400)),
    WireCase("HTTP/9.9", request("GET /case HTTP/9.9"), .refused(505)),
    WireCase("HTTP/1.2", request("GET /case HTTP/1.2"), .refused(505)),
    WireCase("HTTP/2.0", request("GET /case HTTP/2.0"), .refused(505)),
    WireCase("HTTP/0.9 spelled out", request("GET /case HTTP/0.9"), .refused(505)),
    WireCase("version in small letters", request("GET /case http/1.1"), .refused(400)),
    WireCase("version with two digits", request("GET /case HTTP/1.10"), .refused(400)),
    WireCase("version with leading zero", request("GET /case HTTP/01.1"), .refused(400)),
    WireCase("version without dot", request("GET /case HTTP/11"), .refused(400)),
    WireCase("another protocol", request("GET /case HTTPS/1.1"), .refused(400)),
    WireCase("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .refused(501)),
    WireCase(
      "TLS client hello", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{FC}\u{3}\u{3}\r\n\r\n",
      .refused(400)),
    WireCase("two spaces before the target", request("GET  /case HTTP/1.1"), .refused(400)),
    WireCase("two spaces before the version", request("GET /case  HTTP/1.1"), .refused(400)),
    WireCase("tab instead of space", request("GET\t/case HTTP/1.1"), .refused(400)),
    WireCase("space after the version", request("GET /case HTTP/1.1 "), .refused(400)),
    WireCase("space before the method", request(" GET /case HTTP/1.1"), .refused(400)),
    WireCase("two empty lines first", "\r\n\r\n" + request("GET /case HTTP/1.1"), .refused(400)),
    WireCase("bare LF first", "\n" + request("GET /case HTTP/1.1"), .refused(400)),
    WireCase("bare CR first", "\r" + request("GET /case HTTP/1.1"), .refused(400)),
    WireCase(
      "bare LF ends the request line", "GET /case HTTP/1.1\nHost: test.example\r\n\r\n",
      .refused(400)),
    WireCase(
      "bare CR ends the request line", "GET /case HTTP/1.1\rHost: test.example\r\n\r\n",
      .refused(400)),
    WireCase(
      "CR CR LF ends the request line", "GET /case HTTP/1.1\r\r\nHost: test.example\r\n\r\n",
      .refused(400)),
    WireCase("unknown method", request("BREW /case HTTP/1.1"), .refused(501)),
    WireCase("TRACE", request("TRACE /case HTTP/1.1"), .refused(405)),
    WireCase("method in small letters", request("get /case HTTP/1.1"), .refused(501)),
    WireCase("method longer than any", request("GETTTTTTTTTTTTT /case HTTP/1.1"), .refused(501)),
    WireCase("method with a colon", request("GE:T /case HTTP/1.1"), .refused(400)),
    WireCase("method with a NUL", request("GE\0T /case HTTP/1.1"), .refused(400)),
    WireCase("method with a byte above ASCII", request("GE\u{E9} /case HTTP/1.1"), .refused(400)),
    WireCase("CONNECT", request("CONNECT test.example:443 HTTP/1.1"), .refused(501)),
    WireCase(
      "response instead of request", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .refused(400)),
  ]

  public static let targets: [WireCase] = [
    WireCase("space in the target", request("GET /ca se HTTP/1.1"), .refused(400)),
    WireCase("tab in the target", request("GET /ca\tse HTTP/1.1"), .refused(400)),
    WireCase("NUL in the target", request("GET /ca\0se HTTP/1.1"), .refused(400)),
    WireCase("control character in the target", request("GET /ca\u{1}se HTTP/1.1"), .refused(400)),
    WireCase("DEL in the target", request("GET /ca\u{7F}se HTTP/1.1"), .refused(400)),
    WireCase("byte above ASCII in the target", request("GET /ca\u{E9}se HTTP/1.1"), .refused(400)),
    WireCase("backslash in the target", request("GET /ca\\se HTTP/1.1"), .refused(400)),
    WireCase("fragment in the target", request("GET /case#part HTTP/1.1"), .refused(400)),
    WireCase("angle brackets in the target", request("GET /<case> HTTP/1.1"), .refused(400)),
    WireCase("quotes in the query", request("GET /case?a=\"b\" HTTP/1.1"), .refused(400)),
    WireCase("bare CR in the target", request("GET /ca\rse HTTP/1.1"), .refused(400)),
    WireCase("no slash first", request("GET case HTTP/1.1"), .refused(400)),
    WireCase("authority-form with GET", request("GET test.example:80 HTTP/1.1"), .refused(400)),
    WireCase("asterisk-form with GET", request("GET * HTTP/1.1"), .refused(400)),
    WireCase("asterisk and more", request("OPTIONS *a HTTP/1.1"), .refused(400)),
    WireCase(
      "URL of another scheme", request("GET ftp://test.example/case HTTP/1.1"), .refused(400)),
    WireCase(
      "URL with user information", request("GET http://a:b@test.example/case HTTP/1.1"),
      .refused(400)),
    WireCase("URL without a host", request("GET http:///case HTTP/1.1"), .refused(400)),
    WireCase(
      "URL with an impossible port", request("GET http://test.example:99999/case HTTP/1.1"),
      .refused(400)),
    WireCase("URL with one slash", request("GET http:/test.example/case HTTP/1.1"), .refused(400)),
    WireCase(
      "URL with a space in the host", request("GET http://test .example/case HTTP/1.1"),
      .refused(400)),
  ]

  public static let hosts: [WireCase] = [
    WireCase("no Host", "GET /case HTTP/1.1\r\n\r\n", .refused(400)),
    WireCase(
      "no Host beside a URL", "GET http://test.example/case HTTP/1.1\r\n\r\n", .refused(400)),
    WireCase("two Hosts", request("GET /case HTTP/1.1", "Host: other.example"), .refused(400)),
    WireCase(
      "the same Host twice", request("GET /case HTTP/1.1", "Host: test.example"), .refused(400)),
    WireCase(
      "a second Host in other letters", request("GET /case HTTP/1.1", "hOST: other.example"),
      .refused(400)),
    WireCase("empty Host", "GET /case HTTP/1.1\r\nHost:\r\n\r\n", .refused(400)),
    WireCase(
      "two names in one Host", "GET /case HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n",
      .refused(400)),
    WireCase("path in Host", "GET /case HTTP/1.1\r\nHost: test.example/x\r\n\r\n", .refused(400)),
    WireCase(
      "user information in Host", "GET /case HTTP/1.1\r\nHost: a@test.example\r\n\r\n",
      .refused(400)),
    WireCase("space in Host", "GET /case HTTP/1.1\r\nHost: test example\r\n\r\n", .refused(400)),
    WireCase(
      "port that is none in Host", "GET /case HTTP/1.1\r\nHost: test.example:8o\r\n\r\n",
      .refused(400)),
    WireCase(
      "impossible port in Host", "GET /case HTTP/1.1\r\nHost: test.example:65536\r\n\r\n",
      .refused(400)),
    WireCase("open bracket in Host", "GET /case HTTP/1.1\r\nHost: [::1\r\n\r\n", .refused(400)),
    WireCase(
      "byte above ASCII in Host", "GET /case HTTP/1.1\r\nHost: t\u{E9}st\r\n\r\n", .refused(400)),
    WireCase("percent escape in Host", "GET /case HTTP/1.1\r\nHost: a%2eb\r\n\r\n", .refused(400)),
  ]

  public static let fieldLines: [WireCase] = [
    WireCase("space before the colon", request("GET /case HTTP/1.1", "X-A : b"), .refused(400)),
    WireCase("tab before the colon", request("GET /case HTTP/1.1", "X-A\t: b"), .refused(400)),
    WireCase("no colon", request("GET /case HTTP/1.1", "X-A"), .refused(400)),
    WireCase("no name", request("GET /case HTTP/1.1", ": b"), .refused(400)),
    WireCase("brackets in a name", request("GET /case HTTP/1.1", "X[]: b"), .refused(400)),
    WireCase("NUL in a name", request("GET /case HTTP/1.1", "X\0A: b"), .refused(400)),
    WireCase(
      "byte above ASCII in a name", request("GET /case HTTP/1.1", "X\u{E9}: b"), .refused(400)),
    WireCase(
      "folded line with a space", request("GET /case HTTP/1.1", "X-A: b", " c"), .refused(400)),
    WireCase(
      "folded line with a tab", request("GET /case HTTP/1.1", "X-A: b", "\tc"), .refused(400)),
    WireCase(
      "space before the first field", "GET /case HTTP/1.1\r\n Host: test.example\r\n\r\n",
      .refused(400)),
    WireCase("line of blanks at the end", request("GET /case HTTP/1.1", "  "), .refused(400)),
    WireCase("NUL in a value", request("GET /case HTTP/1.1", "X-A: b\0c"), .refused(400)),
    WireCase("bare CR in a value", request("GET /case HTTP/1.1", "X-A: b\rc"), .refused(400)),
    WireCase("bare LF in a value", request("GET /case HTTP/1.1", "X-A: b\nX-C: d"), .refused(400)),
    WireCase(
      "control character in a value", request("GET /case HTTP/1.1", "X-A: b\u{1}c"), .refused(400)),
    WireCase("DEL in a value", request("GET /case HTTP/1.1", "X-A: b\u{7F}c"), .refused(400)),
    WireCase(
      "escape character in a value", request("GET /case HTTP/1.1", "X-A: \u{1B}[31m"), .refused(400)
    ),
    WireCase("CR CR LF after a value", request("GET /case HTTP/1.1", "X-A: b\r"), .refused(400)),
    WireCase(
      "bare LF ends the fields", "GET /case HTTP/1.1\r\nHost: test.example\r\n\n", .refused(400)),
    WireCase("LF only", "GET /case HTTP/1.1\nHost: test.example\n\n", .refused(400)),
    WireCase(
      "bare CR ends the fields", "GET /case HTTP/1.1\r\nHost: test.example\r\n\rX", .refused(400)),
    WireCase(
      "unknown expectation", request("POST /case HTTP/1.1", "Expect: 200-ok", "Content-Length: 0"),
      .refused(417)),
  ]
}
