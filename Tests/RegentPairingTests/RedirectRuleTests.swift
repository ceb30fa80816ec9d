import RegentPairing
import Testing

@Suite struct `Redirect URLs` {
  private let rule = RedirectRule(
    domains: ["example.com", "TV.test"],
    addresses: [
      "http://127.0.0.1/done", "http://[::1]:9/x", "adbe.app://back", "https://fixed.test/a?b=c",
    ])

  @Test(arguments: [
    "https://example.com", "https://example.com/", "https://www.example.com/done?x=1#y",
    "http://example.com:8443/", "HTTPS://Example.COM/", "https://tv.test/", "adbe.app://back",
    "https://fixed.test/a?b=c", "http://127.0.0.1:51234/done", "http://127.0.0.1/done",
    "http://[::1]:4000/x",
  ])
  func `a redirect URL on a listed domain or in the registered list is allowed`(address: String) {
    #expect(rule.allows(address))
  }

  @Test(arguments: [
    "", "/done", "//example.com/", "example.com", "https:example.com", "https:/example.com",
    "https://evil.test/", "https://example.com.evil.test/", "https://evilexample.com/",
    "https://example.com@evil.test/", "https://user@example.com/", "https://evil.test#example.com",
    "https://evil.test?.example.com", "https://evil.test\\.example.com/",
    "https://example.com\\@evil.test",
    "https://example.com:80:80/", "https://example.com:99999/", "https://example.com:/",
    "https://example.com./", "https://.example.com/", "https://exаmple.com/",
    "https://example.com/\r\nX: y",
    "https://example.com/\t", " https://example.com/", "javascript://example.com/%0aalert(1)",
    "data:text/html,x", "ftp://example.com/", "https://fixed.test/a?b=d", "https://fixed.test/",
    "adbe.app://back/more", "http://127.0.0.1:51234/other", "https://127.0.0.1:51234/done",
    "http://localhost:51234/done", "http://127.0.0.1.evil.test/done", "http://[::1]evil.test/x",
    "http://[::2]:4000/x", "https://example.com/\"><script>", "https://%65xample.com/",
    "://example.com/",
    "x://https://example.com/",
    "https://example.com/" + String(repeating: "a", count: 2048),
  ])
  func `every other redirect URL is refused`(address: String) {
    #expect(!rule.allows(address))
  }

  @Test(arguments: [
    "javascript://example.com/%0aalert(1)", "JavaScript://x", "data://x", "file:///etc/passwd", "vbscript://x",
    "blob://x", "about://blank", "1app://x", "ap_p://x", "mailto:a@example.com", "app:/x",
  ])
  func `a URL that a browser would execute or that is malformed is refused even when it was registered`(address: String)
  {
    let rule = RedirectRule(domains: [], addresses: [address])
    #expect(!rule.allows(address) && !rule.isRegistered(address))
  }

  @Test func `an app's redirect URL must match its registration, except for the case of scheme and host`() {
    let rule = RedirectRule(domains: ["example.com"], addresses: ["adobepass://ios.app"])
    #expect(rule.isRegistered("adobepass://ios.app"))
    #expect(rule.isRegistered("AdobePass://iOS.app"))
    #expect(!rule.isRegistered("adobepass://ios.app/Done"))
    #expect(!rule.isRegistered("https://example.com/"))
    for other in ["adobepass://ios.app/", "adobepass://ios.app?x=1", "adobepass://ios.ap"] {
      #expect(!rule.allows(other), "\(other)")
    }
  }

  @Test func `a requestor without domains allows no redirect`() {
    let none = RedirectRule(domains: [], addresses: [])
    #expect(!none.allows("https://example.com/"))
    #expect(!RedirectRule(domains: [""], addresses: []).allows("https://example.com/"))
    #expect(rule.knows(domain: "Example.com") && !rule.knows(domain: "www.example.com"))
  }
}
