import RegentHTTPCodec
import Testing

@Suite struct AbsoluteURLTests {
  @Test(
    arguments: [
      ("https://example.com", "https", "example.com", nil, "/", "https://example.com"),
      ("HTTPS://EXAMPLE.COM/D/X", "https", "example.com", nil, "/D/X", "https://example.com"),
      ("http://a.b:8080/p?q#f", "http", "a.b", 8080, "/p?q", "http://a.b:8080"),
      ("http://a.b:80?q", "http", "a.b", 80, "/?q", "http://a.b"),
      ("https://[::1]:443/", "https", "[::1]", 443, "/", "https://[::1]"),
      ("http://[::ffff:127.0.0.1]/", "http", "127.0.0.1", nil, "/", "http://127.0.0.1"),
      ("http://127.0.0.1:1/?", "http", "127.0.0.1", 1, "/?", "http://127.0.0.1:1"),
      ("my.app+1://callback/x", "my.app+1", "callback", nil, "/x", "my.app+1://callback"),
      ("https://a/b//c?d=/e:f@g", "https", "a", nil, "/b//c?d=/e:f@g", "https://a"),
      ("https://a/@b", "https", "a", nil, "/@b", "https://a"),
    ] as [(String, String, String, Int?, String, String)])
  func `a URL is split into its parts`(
    text: String, scheme: String, host: String, port: Int?, target: String, origin: String
  ) throws {
    let url = try AbsoluteURL(parsing: text)
    #expect(url.scheme == scheme)
    #expect(url.host.description == host)
    #expect(url.port == port)
    #expect(url.requestTarget == target)
    #expect(url.origin == origin)
    #expect(try AbsoluteURL(parsing: url.description) == url)
  }

  @Test func `a parsed URL gives its fragment, and the default port of its scheme`() throws {
    #expect(try AbsoluteURL(parsing: "https://a/b#c#d").fragment == "c#d")
    #expect(try AbsoluteURL(parsing: "https://a/b").fragment == nil)
    #expect(try AbsoluteURL(parsing: "https://a/b#").fragment?.isEmpty == true)
    #expect(try AbsoluteURL(parsing: "https://a").effectivePort == 443)
    #expect(try AbsoluteURL(parsing: "http://a").effectivePort == 80)
    #expect(try AbsoluteURL(parsing: "app://a").effectivePort == nil)
  }

  @Test(arguments: [
    ("", URLError.scheme), ("example.com", .scheme), ("//example.com", .scheme),
    ("https:example.com", .scheme), ("https:/example.com", .scheme), ("://a", .scheme),
    ("1http://a", .scheme), ("javascript:alert(1)", .scheme), ("https", .scheme),
    ("https://", .host), ("https:///path", .host), ("https://?q", .host), ("https://:80", .host),
    ("https://good.example@evil.example/", .userInformation), ("https://a:b@c/", .userInformation),
    ("https://evil.example\\@good.example/", .character), ("https:\\\\a", .character),
    ("https://a b/", .character), ("https://a\t/", .character), ("https://a\n/", .character),
    ("https://\u{E9}.example/", .character), ("https://a/\u{E9}", .character),
    ("https://a/<script>", .character), ("https://a/\"", .character),
    ("https://a/\u{0}", .character),
    ("https://a/%", .escape), ("https://a/%zz", .escape), ("https://a/%4", .escape),
    ("https://a%2eb/", .host), ("https://a..b/", .host), ("https://.a/", .host),
    ("https://a./", .host), ("https://-a/", .host), ("https://a-/", .host),
    ("https://2130706433/", .host),
    ("https://0x7f.0.0.1/", .host), ("https://127.1/", .host), ("https://127.0.0.01/", .host),
    ("https://1.2.3.4.5/", .host), ("https://0x7f000001/", .host), ("https://a.0x1/", .host),
    ("https://[::1/", .host), ("https://::1/", .host), ("https://[::1%25lo]/", .host),
    ("https://[1.2.3.4]/", .host), ("https://a:0/", .port), ("https://a:65536/", .port),
    ("https://a:/", .port), ("https://a:+1/", .port), ("https://a:080/", .port),
    ("https://[::1]x/", .host),
    ("https://a:1:2/", .host), ("https://a!b/", .host),
  ])
  func `a URL that two parsers could read differently is refused`(text: String, expected: URLError) {
    #expect(throws: expected) { try AbsoluteURL(parsing: text) }
  }

  @Test(arguments: [
    ("example.com", true), ("EXAMPLE.com", true), ("a.example.com", true),
    ("a.b.example.com", true),
    ("badexample.com", false), ("example.com.evil.org", false), ("com", false),
    ("127.0.0.1", false),
  ])
  func `a host is within a domain only if its name ends at a dot`(host: String, inside: Bool) throws {
    #expect(try #require(HostName(parsing: host)).isWithin(domain: "Example.com") == inside)
  }
}
