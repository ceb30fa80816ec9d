import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

/// The stored state as one value, to compare before and after.
private struct Kept: Equatable {
  let registrations: [RegistrationRecord]
  let sessions: [SessionRecord]
  let authentications: [AuthenticationRecord]
  let names: [AuthenticationID: String]
  let audit: Int64

  init(_ service: TestService) async throws {
    let store = service.core.store
    let now = service.core.clock.now
    registrations = try await store.registrations(after: nil, limit: 1000, at: now)
    var sessions: [SessionRecord] = []
    for account in [Sample.account, "second"] {
      let viewer = Viewer(
        provider: try named(Sample.provider), account: try named(account))
      sessions += try await store.sessions(of: viewer, at: now)
    }
    self.sessions = sessions
    authentications = try await store.authentications(
      AuthenticationFilter(), after: nil, limit: 1000, at: now)
    names = try await service.core.screenNames(of: authentications)
    audit = try await store.newestAuditNumber()
  }
}

extension PhoneBrowser {
  /// Signs in without a code.
  mutating func signIn(_ user: String = Sample.account, _ password: String = Sample.password)
    async throws
  {
    try await open("/sign-in")
    try await send("sign-in/local", ["user": user, "password": password])
  }
}

@Suite struct `CSRF protection of the forms` {
  /// Every form of the pages, with fields that would make it take effect.
  static func forms(_ code: String, _ screen: String) -> [(String, [String: String])] {
    [
      ("/code", ["code": code]), ("/language", ["language": "it", "return": "/"]),
      ("/D/\(code)/open", [:]), ("/D/\(code)/provider", ["provider": "pass"]),
      ("/D/\(code)/sign-in?provider=local", ["user": "demo", "password": "demo"]),
      ("/D/\(code)/approve", [:]), ("/D/\(code)/deny", [:]), ("/D/\(code)/number", ["number": "1"]),
      ("/D/\(code)/renew", [:]), ("/D/\(code)/release", [:]),
      ("/sign-in", ["provider": "local"]),
      ("/sign-in/local", ["user": "demo", "password": "demo"]), ("/sign-out", [:]),
      ("/password", ["current": "demo", "new": "a long enough password"]),
      ("/screens/\(screen)/apps", ["permission": "denied"]),
      ("/screens/\(screen)/rename", ["name": "Mine"]), ("/screens/\(screen)/sign-out", [:]),
      ("/screens/sign-out", [:]), ("/logout", [:]),
    ]
  }

  /// Paths whose forms only lead to the next page.
  ///
  /// They are accepted with the token of any page that this browser was shown (`PhoneTabTests`).
  static func leadingOn(_ code: String) -> Set<String> {
    [
      "/code", "/language", "/D/\(code)/open", "/D/\(code)/provider", "/D/\(code)/sign-in?provider=local",
      "/D/\(code)/release", "/sign-in", "/sign-in/local",
    ]
  }

  @Test(arguments: [
    "missing", "empty", "garbage", "foreign", "before the sign-in", "old", "origin",
    "null origin", "cross-site", "referer", "no cookie",
  ])
  func `no form is accepted with a bad token or from another site`(fault: String) async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.open("/")
      let early = phone.formToken
      try await phone.reachApproval(try await newCode(service, client, device: "signed-in"))
      try await phone.send("approve")
      let screen = try #require(
        try await Kept(service).authentications.first?.authentication.id.text)
      let code = try await newCode(service, client)
      try await phone.open("/D/\(code)")
      try await phone.send("open")
      var stranger = PhoneBrowser(client)
      try await stranger.open("/")
      var token = phone.formToken
      var origin: String? = "https://tv.example.org"
      switch fault {
      case "empty": token = ""
      case "garbage": token = "65540000.AAAA"
      case "foreign": token = stranger.formToken
      case "before the sign-in": token = early
      case "old": service.clock.pass(.seconds(13 * 3600))
      case "origin": origin = "https://evil.example"
      case "null origin": origin = "null"
      case "cross-site":
        origin = nil
        phone.headers.append(("Sec-Fetch-Site", "cross-site"))
      case "referer":
        origin = nil
        phone.headers.append(("Referer", "https://tv.example.org.evil.example/D/\(code)"))
      case "no cookie": phone.cookies = [:]
      default: break
      }
      try await service.auditIsWritten()
      let before = try await Kept(service)
      for (path, fields) in Self.forms(code, screen) {
        var sent = fields
        if fault != "missing" { sent["csrf"] = token }
        if fault == "before the sign-in", Self.leadingOn(code).contains(path) { continue }
        var copy = phone
        let answer = try await copy.post(path, sent, origin: origin)
        #expect(answer.status == 403, "\(path) with \(fault)")
        #expect(copy.cookies["__Host-regent-language"] == nil)
      }
      try await service.auditIsWritten()
      #expect(try await Kept(service) == before)
    }
  }

  @Test func `a GET or HEAD request changes nothing`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try await newCode(service, client, device: "signed-in"))
      try await phone.send("approve")
      let screen = try #require(
        try await Kept(service).authentications.first?.authentication.id.text)
      let opened = try await newCode(service, client)
      try await phone.open("/D/\(opened)")
      try await phone.send("open")
      let offered = try await newCode(service, client, device: "box-2")
      service.clock.pass(.seconds(400))
      try await service.auditIsWritten()
      let before = try await Kept(service)
      let codes = [opened, offered].flatMap { code in
        ["/D/\(code)"] + PagePaths.CodeStep.allCases.map { "/D/\(code)/\($0.rawValue)" }
      }
      let others = Self.forms(opened, screen).map { String($0.0.prefix { $0 != "?" }) }
      let begin =
        "/api/v1/authenticate?reg_code=\(offered)&requestor_id=REF30&mso_id=local&domain_name=example.com&noflash=true&no_iframe=true&redirect_url=https%3A%2F%2Fexample.com%2Fdone"
      for path in codes + others + ["/", "/screens", begin] {
        for method in ["GET", "HEAD"] {
          var request = TestRequest(method, path, headers: [("Host", "tv.example.org")])
          let cookies = phone.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
          request.headers.append(("Cookie", cookies))
          let answer = try await client.send(request)
          #expect(answer.status < 500, "\(method) \(path)")
          if method == "HEAD" { #expect(answer.body.isEmpty) }
        }
      }
      try await service.auditIsWritten()
      #expect(try await Kept(service) == before)
    }
  }
}

@Suite struct `Browser sessions` {
  @Test func `a session id planted before the sign-in is worthless afterwards`()
    async throws
  {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      // The attacker plants a session of its own in the victim's browser.
      var attacker = PhoneBrowser(client)
      try await attacker.signIn("second")
      let planted = try #require(attacker.cookie("session"))
      var victim = PhoneBrowser(client)
      victim.cookies["__Host-regent-session"] = planted
      try await victim.open("/sign-in")
      try await victim.send("sign-in/local", ["user": Sample.account, "password": Sample.password])
      #expect(victim.address == "/screens")
      #expect(victim.page.text.contains(Sample.account))
      let fresh = try #require(victim.cookie("session"))
      #expect(fresh != planted)
      try await attacker.open("/screens")
      #expect(attacker.address.hasPrefix("/sign-in"))
      // A session id that the service never issued does not become valid.
      var made = PhoneBrowser(client)
      let own = String(repeating: "A", count: 43)
      made.cookies["__Host-regent-session"] = own
      try await made.signIn()
      #expect(made.cookie("session") != own)
    }
  }

  @Test func `cookies are restricted to this host, to https and to HTTP requests`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.open("/sign-in")
      let answer = try await phone.send(
        "sign-in/local", ["user": Sample.account, "password": Sample.password], following: false)
      for line in answer.headers("set-cookie") {
        #expect(line.hasPrefix("__Host-"))
        #expect(line.contains("; Path=/; "))
        #expect(line.contains("; Secure; HttpOnly; SameSite=Lax"))
      }
      #expect(!answer.headers("set-cookie").isEmpty)
    }
    let home = try await TestService(options: { $0.publicURL = "http://192.168.1.2:8787" })
    try await withPhone(home) { client in
      let page = try await client.get("/", headers: [("Host", "192.168.1.2:8787")])
      #expect(page.header("set-cookie")?.hasPrefix("regent-plain-http-8787-visit=") == true)
      #expect(page.header("set-cookie")?.contains("Secure") == false)
      #expect(page.text.contains("Not encrypted."))
    }
  }

  @Test func `an unknown name, a wrong password and a disabled account get the same response`() async throws {
    let service = try await TestService()
    try await service.addAccount("locked")
    try await service.disable("locked")
    try await withPhone(service) { client in
      var bodies: Set<String> = []
      var statuses: Set<UInt16> = []
      for (user, password) in [("nobody", "x"), (Sample.account, "x"), ("locked", Sample.password)] {
        var phone = PhoneBrowser(client)
        try await phone.open("/sign-in")
        let token = phone.formToken
        let answer = try await phone.send(
          "sign-in/local", ["user": user, "password": password], following: false)
        statuses.insert(answer.status)
        #expect(answer.headers("set-cookie").isEmpty)
        bodies.insert(
          answer.text.replacing(phone.formToken, with: "TOKEN").replacing(token, with: "TOKEN")
            .replacing(user, with: "USER"))
      }
      #expect(statuses == [403])
      #expect(bodies.count == 1)
    }
  }

  @Test func `a disabled account cannot approve and loses its session at once`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      let token = phone.formToken
      try await service.disable(Sample.account)
      let answer = try await phone.post("/D/\(code)/approve", ["csrf": token])
      #expect(answer.status != 200)
      #expect(service.core.codes.find(try service.found(code))?.flow.state.isPending == true)
      try await phone.open("/screens")
      #expect(phone.address.hasPrefix("/sign-in"))
    }
  }

  @Test func `wrong passwords delay further attempts for the account, without computing a hash`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.open("/sign-in")
      for _ in 0..<5 {
        try await phone.send("sign-in/local", ["user": Sample.account, "password": "x"])
        #expect(phone.page.status == 403)
      }
      try await phone.open("/sign-in")
      try await phone.send(
        "sign-in/local", ["user": Sample.account, "password": Sample.password])
      #expect(phone.page.status == 429)
      #expect(phone.page.header("retry-after") == "1")
      service.clock.pass(.seconds(2))
      try await phone.signIn()
      #expect(phone.address == "/screens")
    }
  }

  @Test func `a new password ends all other sessions of the account`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      var other = PhoneBrowser(client)
      try await phone.signIn()
      try await other.signIn()
      let code = try await newCode(service, client)
      try await other.reachApproval(code)
      try await phone.open("/password")
      for (current, new, problem) in [
        ("x", "a long enough password", "The current password is not right."),
        (Sample.password, "short", "The new password is too short."),
        ("a long enough password", "a long enough password", "the same as the current one"),
      ] {
        try await phone.send("/password", ["current": current, "new": new])
        #expect(phone.page.text.contains(problem))
      }
      try await phone.send(
        "/password", ["current": Sample.password, "new": "a long enough password"])
      #expect(phone.address == "/screens?done=password-changed")
      try await other.open("/screens")
      #expect(other.address.hasPrefix("/sign-in"))
      // The code that the ended session had claimed is free.
      try await phone.reachApproval(code)
      #expect(phone.page.status == 200)
      try await other.signIn()
      #expect(other.page.status == 403)
      try await other.signIn(Sample.account, "a long enough password")
      #expect(other.address == "/screens")
    }
  }

  @Test func `a session ends when it is unused or signed out`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      let cookie = try #require(phone.cookie("session"))
      try await phone.open("/sign-out")
      try await phone.send("/sign-out")
      #expect(phone.page.status == 200)
      #expect(phone.cookie("session") == nil)
      phone.cookies["__Host-regent-session"] = cookie
      try await phone.open("/screens")
      #expect(phone.address.hasPrefix("/sign-in"))
      try await phone.signIn()
      service.clock.pass(.seconds(12 * 3600))
      try await phone.open("/screens")
      #expect(phone.address.hasPrefix("/sign-in"))
    }
  }
}
