import RegentHTTPCodec
import Testing

@Suite struct CookieTests {
  @Test(arguments: [
    ("", [], 0), ("a=1", ["a=1"], 0), ("a=1; b=2", ["a=1", "b=2"], 0),
    ("a=1;b=2", ["a=1", "b=2"], 0),
    ("a=", ["a="], 0), ("a=\"x\"", ["a=x"], 0), ("a=b=c", ["a=b=c"], 0), (";; a=1 ;", ["a=1"], 0),
    ("a", [], 1), ("=1", [], 1), ("a b=1", [], 1), ("a=x y", [], 1), ("a=x,y; b=2", ["b=2"], 1),
    ("a=\u{E9}; b=2", ["b=2"], 1), ("a=\\; b=2", ["b=2"], 1), ("a=\u{7F}", [], 1),
    // A quoted value must not hide a separator: what follows the semicolon is a pair of its own.
    ("a=\"x; session=evil\"", [], 2), ("a=\"x; session=1; b=y\"", ["session=1"], 2),
    ("a=\"", [], 1), ("a=\"\"", ["a="], 0),
  ])
  func `a cookie header is split at semicolons, and malformed pairs are skipped`(
    line: String, expected: [String], malformed: Int
  ) {
    let cookies = Cookies(headerValues: [line])
    #expect(cookies.all.map { "\($0.name)=\($0.value)" } == expected)
    #expect(cookies.malformedCount == malformed)
  }

  @Test func `a cookie that is sent twice has no single value`() {
    let cookies = Cookies(headerValues: ["a=1; b=2", "a=3"])
    #expect(cookies.value(of: "a") == nil)
    #expect(cookies.values(of: "a") == ["1", "3"])
    #expect(cookies.value(of: "b") == "2")
    #expect(cookies.value(of: "B") == nil)
  }

  @Test func `cookies beyond the maximum number are dropped and counted as malformed`() {
    let line = (0..<200).map { "c\($0)=1" }.joined(separator: "; ")
    let cookies = Cookies(headerValues: [line])
    #expect(cookies.all.count == Cookies.maximumCount)
    #expect(cookies.malformedCount == 200 - Cookies.maximumCount)
  }

  @Test func `a new cookie is Secure, HttpOnly and SameSite=Lax by default`() throws {
    #expect(
      try SetCookie("a", "1").headerValue == "a=1; Path=/; Secure; HttpOnly; SameSite=Lax")
    #expect(
      try SetCookie.hostBound("session", "x", maximumAge: 60, sameSite: .strict).headerValue
        == "__Host-session=x; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Strict")
    #expect(
      try SetCookie("a", "1", path: "/D", domain: "Example.com", isSecure: false, isHTTPOnly: false)
        .headerValue == "a=1; Path=/D; Domain=Example.com; SameSite=Lax")
    #expect(
      try SetCookie.hostBound("session", "x").removal().headerValue
        == "__Host-session=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax")
  }

  @Test func `a cookie that would be split or weakened is refused`() {
    for name in ["", "a b", "a=b", "a;b", "a\r\nX: 1", "\u{E9}"] {
      #expect(throws: SetCookieError.name) { try SetCookie(name, "1") }
    }
    for value in ["a b", "a;b", "a,b", "a\"b", "a\\b", "a\r\nSet-Cookie: b=1", "\u{E9}", "\0"] {
      #expect(throws: SetCookieError.value) { try SetCookie("a", value) }
    }
    for path in ["", "a", "/a;b", "/a\r\n", "/a b"] {
      #expect(throws: SetCookieError.path) { try SetCookie("a", "1", path: path) }
    }
    for domain in ["", "a b", "a;b", "127.0.0.1", "[::1]", "a\r\nb"] {
      #expect(throws: SetCookieError.domain) { try SetCookie("a", "1", domain: domain) }
    }
    for name in ["__Host-a", "__host-a", "__HOST-a", "__Secure-a"] {
      #expect(throws: SetCookieError.prefixNeedsSecure) {
        try SetCookie(name, "1", isSecure: false)
      }
    }
    #expect(throws: SetCookieError.hostPrefixNeedsRootPathAndNoDomain) {
      try SetCookie("__Host-a", "1", path: "/x")
    }
    #expect(throws: SetCookieError.hostPrefixNeedsRootPathAndNoDomain) {
      try SetCookie("__Host-a", "1", domain: "example.com")
    }
    #expect(throws: SetCookieError.crossSiteNeedsSecure) {
      try SetCookie("a", "1", isSecure: false, sameSite: .none)
    }
  }
}
