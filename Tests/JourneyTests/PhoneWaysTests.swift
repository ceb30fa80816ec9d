import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Sign-in started by a web page or an app` {
  private static func begin(
    _ code: String, _ redirect: String = "https%3A%2F%2Fwww.example.com%2Fdone%3Fa%3D1",
    changing: [String: String?] = [:]
  ) -> String {
    var fields: [(String, String)] = [
      ("reg_code", code), ("requestor_id", "REF30"), ("mso_id", "local"),
      ("domain_name", "example.com"), ("noflash", "true"), ("no_iframe", "true"),
    ]
    fields = fields.compactMap { name, value in
      guard let change = changing[name] else { return (name, value) }
      return change.map { (name, $0) }
    }
    let query = fields.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    return "/api/v1/authenticate?\(query)&redirect_url=\(redirect)"
  }

  @Test func `the browser is redirected back once when the code is approved`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      let first = try await client.get(Self.begin(code))
      #expect(first.status == 302)
      #expect(first.header("location") == "/D/\(code)")
      try await phone.open(Self.begin(code))
      try await phone.send("open")
      // The page does not ask again for the provider that the link names.
      #expect(phone.address == "/D/\(code)/sign-in?provider=local")
      try await phone.send("sign-in", ["user": Sample.account, "password": Sample.password])
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
      #expect(phone.page.header("refresh") == "0; url=https://www.example.com/done?a=1")
      #expect(phone.page.text.contains("href=\"https://www.example.com/done?a=1\""))
      // The redirect happens only once.
      try await phone.open("/D/\(code)/result")
      #expect(phone.page.header("refresh") == nil)
    }
  }

  @Test func `a link whose reg_code was mangled by HTML is refused with a message that names reg_code`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      // A browser turns `&reg` in an unescaped HTML attribute into the character ®.
      let query = Self.begin(code).replacing("reg_code=\(code)&", with: "").replacing(
        "requestor_id=REF30", with: "requestor_id=REF30&%C2%AE_code=\(code)")
      let answer = try await client.get(query)
      #expect(answer.status == 400)
      #expect(answer.text.contains("reg_code"))
      #expect(try await client.get(Self.begin(code)).status == 302)
    }
  }

  @Test(arguments: [
    "https://evil.example/", "//example.com/", "/here", "javascript:alert(1)",
    "https://example.com.evil.example/", "https://evil.example/?https://example.com/",
    "https://example.com@evil.example/", "https://evil.example\\@example.com/",
    "https://example.com%0d%0aX: y", "data:text/html,x", "ftp://example.com/",
    "https://notexample.com/", "HTTPS://EXAMPLE.COM:99999/", "http://127.0.0.1/", "",
  ])
  func `no redirect leads to an address that is not registered`(address: String) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      let escaped = address.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      let answer = try await client.get(Self.begin(code, escaped))
      #expect(answer.status == 400)
      #expect(answer.header("location") == nil)
      let out = try await client.get("/logout?requestor_id=REF30&redirect_url=\(escaped)")
      #expect(out.status == (address.isEmpty ? 200 : 400))
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      try await phone.open("/sign-in/local?return=\(escaped)")
      try await phone.send(
        "/sign-in/local", ["user": Sample.account, "password": Sample.password], following: false)
      let next = try #require(phone.page.header("location"))
      #expect(next.hasPrefix("/") && !next.hasPrefix("//") && !next.hasPrefix("/\\"))
    }
  }

  @Test func `a link with any wrong parameter is refused`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      for (name, value) in [
        ("requestor_id", "OTHER"), ("requestor_id", nil), ("mso_id", "nobody"), ("mso_id", nil),
        ("domain_name", "evil.example"), ("domain_name", nil), ("reg_code", nil),
        ("reg_code", "HELLO"),
      ] as [(String, String?)] {
        let answer = try await client.get(
          Self.begin(code, changing: [name: value]), headers: [("Accept", "application/json")])
        #expect(answer.status == 400, "\(name) \(value ?? "")")
        #expect(answer.text.hasPrefix("{\"status\":400,"))
        let page = try await client.get(
          Self.begin(code, changing: [name: value]), headers: [("Accept", "text/html,*/*;q=0.8")])
        #expect(page.status == 400)
        #expect(page.text.contains("This link does not work"))
        service.clock.pass(.seconds(601))
      }
      let notLast = try await client.get(Self.begin(code) + "&more=1")
      #expect(notLast.status == 400)
    }
  }

  @Test(arguments: ["adobepass://ios.app", "http://127.0.0.1:51234/done?x=1"])
  func `an app is redirected to its own registered address, also after a denial`(home: String) async throws {
    let service = try await TestService(options: { _ in }) {
      $0.domains = []
      $0.redirectURIs = ["adobepass://ios.app", "http://127.0.0.1/done?x=1"]
    }
    try await withPhone(service) { client in
      for answer in [true, false] {
        let code = try await newCode(service, client)
        var phone = PhoneBrowser(client)
        let escaped = home.utf8.map { "%" + String($0, radix: 16) }.joined()
        try await phone.open(Self.begin(code, escaped, changing: ["domain_name": nil as String?]))
        try await phone.send("open")
        try await phone.send("sign-in", ["user": Sample.account, "password": Sample.password])
        try await phone.send(answer ? "approve" : "deny")
        let mark = home.contains("?") ? "&" : "?"
        let address = answer ? home : "\(home)\(mark)error=access_denied"
        #expect(phone.page.header("refresh") == "0; url=\(address)")
        #expect(phone.page.text.contains("href=\"\(address.replacing("&", with: "&amp;"))\""))
        #expect(phone.page.text.contains(answer ? "Approved" : "Denied"))
        // The redirect happens only once; afterwards the result page is shown.
        try await phone.open("/D/\(code)/result")
        #expect(phone.page.header("refresh") == nil)
        service.clock.pass(.seconds(60))
      }
      let code = try await newCode(service, client)
      for other in ["adobepass://ios.app/more", "adobepass://ios.app?x=1", "adobepass://other", "javascript://ios.app"]
      {
        let escaped = other.utf8.map { "%" + String($0, radix: 16) }.joined()
        let refused = try await client.get(Self.begin(code, escaped, changing: ["domain_name": nil as String?]))
        #expect(refused.status == 400, "\(other)")
        #expect(try await client.get("/logout?requestor_id=REF30&redirect_url=\(escaped)").status == 400)
      }
    }
  }

  @Test func `a viewer who reports the request is not redirected`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.open(Self.begin(code))
      try await phone.send("open")
      try await phone.send("sign-in", ["user": Sample.account, "password": Sample.password])
      try await phone.send("deny", ["reason": "not-me"])
      #expect(phone.page.header("refresh") == nil)
    }
  }

  @Test func `a browser is signed out only by a form of its own, and then redirected`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      let way = "/logout?requestor_id=REF30&redirect_url=https%3A%2F%2Fexample.com%2Fbye"
      try await phone.open(way)
      #expect(phone.page.status == 200)
      #expect(phone.cookie("session") != nil)
      try await phone.send("/logout")
      #expect(phone.page.header("refresh") == "0; url=https://example.com/bye")
      #expect(phone.cookie("session") == nil)
    }
  }
}

@Suite struct `The page My screens` {
  @Test func `the name of a screen is not shown to the next viewer of the device`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      for (viewer, isNamed) in [(Sample.account, false), ("second", false), (Sample.account, true)] {
        var phone = PhoneBrowser(client)
        try await phone.signIn(viewer)
        try await phone.reachApproval(try await newCode(service, client, device: "one"))
        try await phone.send("approve")
        try await phone.open("/screens")
        #expect(phone.page.text.contains("Living room") == isNamed)
        let address = try #require(
          addresses(in: phone.page.text).first { $0.hasSuffix("/rename") })
        guard viewer == Sample.account, !isNamed else { continue }
        try await phone.open(address)
        try await phone.send("rename", ["name": "Living room"])
        #expect(phone.page.text.contains("Living room"))
      }
    }
  }

  @Test func `a viewer can name screens and sign them out one by one or all`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      for device in ["one", "two", "three"] {
        try await phone.reachApproval(try await newCode(service, client, device: device))
        try await phone.send("approve")
      }
      try await phone.open("/screens")
      let forms = phone.page.text.split(separator: "href=\"/screens/").dropFirst()
      let id = try #require(
        forms.map { String($0.prefix { $0 != "/" && $0 != "\"" }) }.first { $0 != "sign-out" })
      try await phone.open("/screens/\(id)/rename")
      for (name, problem) in [
        ("\u{200B}\n", "Enter a name."), (String(repeating: "x", count: 65), "too long"),
      ] {
        try await phone.send("rename", ["name": name])
        #expect(phone.page.status == 422)
        #expect(phone.page.text.contains(problem))
      }
      try await phone.send("rename", ["name": "Living <b>room</b>\u{202E}"])
      #expect(phone.address == "/screens?done=renamed")
      #expect(phone.page.text.contains("<bdi>Living &lt;b&gt;room&lt;/b&gt;</bdi>"))

      // The screens of another viewer cannot be reached.
      var other = PhoneBrowser(client)
      try await other.signIn("second")
      #expect(!other.page.text.contains("Living"))
      for step in ["rename", "sign-out"] {
        #expect(try await other.open("/screens/\(id)/\(step)").status == 404)
        let answer = try await other.post(
          "/screens/\(id)/\(step)", ["csrf": other.formToken, "name": "Mine now"])
        #expect(answer.status == 404)
      }
      try await other.open("/screens/sign-out")
      try await other.send("/screens/sign-out")

      try await phone.open("/screens/\(id)/sign-out")
      try await phone.send("sign-out")
      #expect(phone.address == "/screens?done=signed-out")
      #expect(!phone.page.text.contains("Living"))
      try await phone.open("/screens/sign-out")
      #expect(phone.page.text.contains("2 screens"))
      try await phone.send("/screens/sign-out")
      #expect(phone.page.text.contains("No screen is signed in"))
      for device in ["one", "two", "three"] {
        let answer = try await service.call(
          client, "GET", "/api/v1/tokens/authn?deviceId=\(device)")
        #expect(answer.status == 404)
      }
    }
  }

  @Test func `a hostile device name is escaped on the pages`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      // A model name with markup, quotes and a right-to-left override.
      let model = #"{"model":"<script>alert(1)</script>\u202e\"'onerror=x","vendor":"&lt;"}"#
      let info = base64(Array(model.utf8))
      let code = try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box",
        headers: [("X-Device-Info", info)]
      ).json().string("code")
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      #expect(phone.page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
      #expect(!phone.page.text.contains("<script>alert"))
      #expect(!phone.page.text.contains("\u{202E}"))
    }
  }
}

private func base64(_ bytes: [UInt8]) -> String {
  let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  var out = ""
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let part = bytes[start..<min(start + 3, bytes.count)]
    let value = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
    for place in 0..<4 {
      out += place <= part.count ? String(digits[value >> (18 - 6 * place) & 63]) : "="
    }
  }
  return out
}

@Suite struct `Security headers and page languages` {
  @Test func `every route and every error has the security headers`() async throws {
    let service = try await TestService()
    var configuration = ServerConfiguration()
    configuration.loops = 1
    var standing = CommonHeaders()
    let expected = SecurityHeaders(https: true).list
    for (name, value) in expected {
      #expect(standing.add(try #require(.init(name)), value))
    }
    configuration.standingHeaders = standing
    let listener = Listener(
      .network(.loopback, port: 0), handler: try await service.phoneRouter())
    let server = try Server([listener], configuration: configuration)
    let client = SocketClient(server.addresses[0])
    let code = try await newCode(service, client)
    var phone = PhoneBrowser(client)
    try await phone.open("/D/\(code)")
    try await phone.send("open")
    // Takes every mounted route, so that none is forgotten, with existing values and with others.
    var paths: Set<String> = [
      "/D/x", "/sign-in/none", "/nothing", "/static/nothing.css", "/static/accent/1/1f6feb.css",
      "/static/accent/1/zz.css", "/../x", "/%00", "//", "/%ff", "/a%2fb", "/api/none", "/reggie/x",
      "/D/\(code)?x=%ff", "/" + String(repeating: "x", count: 9000),
    ]
    for (_, pattern) in try await service.mountedRoutes() {
      let steps = pattern.prefix { $0 != "[" }.split(
        separator: "/", omittingEmptySubsequences: false)
      for known in [["code": code, "provider": "local", "requestor": Sample.requestor], [:]] {
        paths.insert(
          steps.map { step in
            if step.hasPrefix("{") { return known[String(step.dropFirst().dropLast())] ?? "x" }
            return step.hasPrefix("(") ? String(step.dropFirst().dropLast()) : String(step)
          }.joined(separator: "/"))
      }
    }
    #expect(paths.count > 60)
    for path in paths.sorted() {
      for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"] {
        let answer = try await client.send(TestRequest(method, path))
        for (name, value) in expected {
          #expect(answer.header(name) == value, "\(name) of \(method) \(path)")
        }
        let isStatic = answer.status == 200 && path.hasPrefix("/static/")
        // Key sets and OAuth metadata are public.
        let isKeySet =
          answer.status == 200
          && (["jwks", "/.well-known/"].contains(where: path.contains) || path == "/oauth/keys")
        // Caches do not store responses to OPTIONS.
        if !isStatic, !isKeySet, method != "OPTIONS" {
          #expect(answer.header("cache-control") == "no-store", "\(method) \(path)")
        }
        if answer.text.hasPrefix("<!DOCTYPE html>") {
          #expect(answer.header("content-type") == "text/html; charset=utf-8")
        }
        #expect(answer.header("server") == nil)
        #expect(answer.status < 500 || answer.status == 501, "\(method) \(path)")
      }
    }
    await offPool { server.stop() }
  }

  @Test func `pages are in the language of the browser or in the chosen one`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      for (wanted, tag) in [
        ("it-CH,en;q=0.5", "it"), ("ko", "ko"), ("es-419", "es"), ("fr", "en"), ("", "en"),
      ] {
        let page = try await client.get("/", headers: [("Accept-Language", wanted)])
        #expect(page.text.contains("<html lang=\"\(tag)\""))
        #expect(page.header("content-language") == tag)
      }
      var phone = PhoneBrowser(client)
      try await phone.open("/screens")
      try await phone.send("/language", ["language": "ko"])
      #expect(phone.page.text.contains("<html lang=\"ko\""))
      // The language form returns to the page it came from, also to one that does not exist.
      #expect(phone.address.hasPrefix("/sign-in"))
      try await phone.signIn()
      #expect(try await phone.open("/nothing").status == 404)
      #expect(phone.page.text.contains("<html lang=\"ko\""))
      try await phone.send("/language", ["language": "it"])
      #expect(phone.page.text.contains("<html lang=\"it\""))
    }
  }
}
