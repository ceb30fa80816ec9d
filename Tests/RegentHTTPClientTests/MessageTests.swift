import RegentHTTPCodec
import Testing

@testable import RegentHTTPClient

@Suite struct MessageTests {
  @Test(arguments: [
    ("http://[fe80::1%25eth0]:8787/x", "http://[fe80::1%25eth0]:8787"),
    ("https://[fe80::1%wlan0]/x", "https://[fe80::1%25wlan0]"), ("http://[FEBF::1%253]/x", "http://[febf::1%253]"),
  ])
  func `a link-local address may have a zone, which the server does not get`(text: String, origin: String) throws {
    let url = try ClientURL(text)
    #expect(url.origin.description == origin)
    #expect(url.target == "/x")
    let head = String(decoding: ClientRequest(.get, url).encoded(), as: UTF8.self)
    #expect(!head.contains("%"), "\(head)")
  }

  @Test func `the hint for an unknown name under .local says that no machine on the network answers`() throws {
    for (url, isNamed) in [("http://tv.local:8787", true), ("http://tv.example", false)] {
      let error = ClientError(.unreachable(.unknownName), try ClientURL(url).origin)
      #expect(error.hint?.contains("on this network") == isNamed)
    }
  }

  @Test(arguments: [
    "http://[2001:db8::1%25eth0]/", "http://[fe80::1%25]/", "http://[fe80::1%25a/b]/", "http://[fe80::1%25a%20b]/",
    "http://[fe80::1%25aaaaaaaaaaaaaaaa]/", "http://fe80%25eth0/", "http://[::1%25lo]/",
  ])
  func `a zone on another address, or one that is no interface name, is refused`(text: String) {
    #expect(throws: ClientError.self) { try ClientURL(text) }
  }

  @Test(arguments: [
    ("http://example.com", "http://example.com", "/"),
    ("HTTP://Example.COM:80/a?b#c", "http://example.com", "/a?b"),
    ("https://example.com:8443?x=y", "https://example.com:8443", "/?x=y"),
    ("https://[2001:DB8::1]:443/", "https://[2001:db8::1]", "/"),
    ("http://127.0.0.1:8787/D/BCDFGHJK", "http://127.0.0.1:8787", "/D/BCDFGHJK"),
  ])
  func `a URL is split into origin and request target`(text: String, origin: String, target: String) throws {
    let url = try ClientURL(text)
    #expect("\(url.origin)" == origin)
    #expect(url.target == target)
  }

  @Test(arguments: [
    "", "example.com", "//example.com/", "ftp://example.com/", "http://", "http:///path",
    "http://user@example.com/", "http://a:b@c/", "http://exa mple.com/", "http://example.com/a b",
    "http://example.com/\r\nX: y", "http://example.com\r\n/", "http://example.com:0/",
    "http://example.com:65536/", "http://example.com:+80/", "http://example.com:/", "http://[::1/",
    "http://[::1]x/", "http://é.example/", "http://example.com/é", "http://a\0b/",
    "http://example.com:8 0/", "http://exam%70le.com/", "http://a,b/",
  ])
  func `a text that is not a plain URL is refused`(text: String) {
    #expect(throws: ClientError.self) { try ClientURL(text) }
  }

  @Test(arguments: [
    ("/x/y", "http://h/x/y"), ("?q", "http://h/a/b?q"), ("", "http://h/a/b?c=d"),
    ("e", "http://h/a/e"), ("./e", "http://h/a/e"), ("../e", "http://h/e"),
    ("../../../e/.", "http://h/e/"), ("/x/../y?../z", "http://h/y?../z"), ("..", "http://h/"),
    ("//other:8080/p", "http://other:8080/p"), ("https://other/p#f", "https://other/p"),
  ])
  func `a relative reference is resolved`(reference: String, full: String) throws {
    let url = try ClientURL("http://h/a/b?c=d").resolving(reference)
    #expect("\(url.origin)\(url.target)" == full)
  }

  @Test func `a reference cannot lead away from a Unix socket`() throws {
    let url = try ClientURL(unixSocket: "/run/a.sock", target: "/x")
    #expect(try url.resolving("/y").target == "/y")
    #expect(throws: ClientError.self) { try url.resolving("//other/y") }
  }

  @Test(
    arguments: [
      (["Sun, 06 Nov 1994 08:49:37 GMT"], 784_111_777_000), (["soon"], nil), ([], nil),
      (["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
    ] as [([String], Int64?)])
  func `the server's time is read from a single valid Date header`(values: [String], time: Int64?) throws {
    let response = try ClientResponse(
      status: .ok, headers: values.map { ClientHeader(name: .date, value: $0) }, body: [],
      url: ClientURL("http://h/"))
    #expect(response.serverDate == time)
  }

  @Test func `a request header cannot inject lines or framing`() async throws {
    let url = try ClientURL("http://127.0.0.1:1/")
    for (name, value) in [
      ("X-A", "b\r\nX-C: d"), ("X-A", "b\nc"), ("X-A", "b\0"), ("Host", "evil"),
      ("content-length", "5"), ("Transfer-Encoding", "chunked"), ("connection", "close"),
    ] {
      var request = ClientRequest(.get, url)
      request.addHeader(try #require(HeaderName(name)), value)
      guard case .invalidRequest = await outcome(makeClient(), request).failureKind else {
        Issue.record("\(name) went through")
        continue
      }
    }
  }

  @Test func `an error never shows a path, a query or a header`() async throws {
    var request = try ClientRequest(.get, ClientURL("http://127.0.0.1:1/secret-path?secret=1"))
    request.addHeader(.authorization, "secret-token")
    guard case .failure(let error) = await outcome(makeClient(), request) else { return }
    #expect(!"\(error) \(error.hint ?? "") \(String(reflecting: error))".contains("secret"))
  }
}
