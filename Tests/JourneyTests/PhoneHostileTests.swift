import Cryptography
import HTTPCodec
import HTTPTestSupport
import JSON
import Pairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

/// A text that is not printed as it is: reports of tests go to terminals.
struct HostileText: CustomTestStringConvertible, ExpressibleByStringLiteral, Sendable {
  let text: String

  init(stringLiteral text: String) { self.text = text }
  init(_ text: String) { self.text = text }

  var testDescription: String {
    text.unicodeScalars.prefix(40).map { $0.escaped(asASCII: true) }.joined()
  }
}

/// Names as strangers choose them.
private let hostileNames: [HostileText] = [
  "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='x",
  "&#x3c;b&#x3e;",
  "\u{202E}kcatta\u{202C}", "\u{2066}\u{2067}\u{2068}x\u{2069}", "\u{200B}\u{200F}\u{FEFF}\u{AD}",
  "a\u{0}b\r\nSet-Cookie: x=1", "{{formToken}}", "{{> layout.html}}", "${x}%00%0d%0a",
  "👩‍👩‍👧‍👦 TV 📺🏳️‍🌈", "مرحبا \u{202B}abc", "Z̷̡͔̠̠̤̎̃a̴l̷g̶o̵\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
  HostileText(String(repeating: "W", count: 10_000)),
  HostileText(String(repeating: "👨‍👩‍👧", count: 3_000)),
  "javascript:alert(1)", "]]><!--", "\\u003cscript\\u003e", "\u{E0001}\u{E0041}\u{1D173}",
]

/// What must not be in any page, whoever named what.
private func expectHarmless(_ page: TestResponse, _ hostile: String) {
  let text = page.text
  let name = HostileText(hostile).testDescription
  #expect(page.status < 500, "\(name)")
  for bad in ["<script>", "<img src=x", "onerror=alert(1)>", "' onmouseover='x", "<b>", "<!--"] {
    let isThere = text.contains(bad)
    #expect(!isThere, "\(bad) of \(name)")
  }
  // Our own isolates are the only direction marks there are.
  let ours: Set<Unicode.Scalar> = ["\u{2068}", "\u{2069}"]
  for scalar in text.unicodeScalars where !ours.contains(scalar) && scalar != "\n" {
    let category = scalar.properties.generalCategory
    #expect(category != .control && category != .format, "\(scalar.value) of \(name)")
  }
  #expect(
    text.unicodeScalars.count { $0 == "\u{2068}" } == text.unicodeScalars.count { $0 == "\u{2069}" }
  )
  #expect(page.header("x") == nil && page.headers("set-cookie").allSatisfy { !$0.hasPrefix("x=") })
  #expect(page.body.count < 20_000, "\(page.body.count) bytes of \(name)")
}

@Suite struct `names that strangers choose` {
  @Test(arguments: hostileNames)
  func `do no harm on any page, whoever has them`(hostile: HostileText) async throws {
    let name = hostile.text
    let service = try await TestService(options: { _ in }) { $0.name = name }
    let provider = Provider(id: try named("named"), name: name, kind: .local, featured: true)
    for record in [
      Provision.provider(provider),
      .integration(Integration(requestor: try named(Sample.requestor), provider: provider.id)),
    ] {
      _ = try await service.core.store.put(
        record, replacing: nil, audit: nil, at: service.core.clock.now)
    }
    try await service.core.provisioning.refresh()
    try await withPhone(service) { client in
      var information = JSONObject()
      for member in ["model", "vendor", "manufacturer", "osName"] {
        information[member] = .string(name)
      }
      let answer = try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box",
        headers: [("X-Device-Info", Base64.encode(JSONValue.object(information).bytes()))])
      let code = answer.status == 201 ? try answer.json().string("code") : nil
      let used: String
      if let code { used = code } else { used = try await newCode(service, client) }
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(used)")
      try await phone.send("open")
      #expect(phone.address == "/D/\(used)/provider")
      expectHarmless(phone.page, name)
      try await phone.send("provider", ["provider": "named"])
      expectHarmless(phone.page, name)
      try await phone.open(
        "/D/\(used)/provider?q=\(name.utf8.map { "%" + hex($0) }.prefix(2000).joined())")
      expectHarmless(phone.page, name)
      try await phone.open("/D/\(used)/provider")
      try await phone.send("provider", ["provider": Sample.provider])
      let typed = String(name.prefix(200))
      try await phone.send("sign-in", ["user": typed, "password": typed])
      #expect(phone.page.status == 403 || phone.page.status == 422)
      try await phone.open("/D/\(used)/sign-in?provider=local")
      try await phone.send("sign-in", ["user": Sample.account, "password": Sample.password])
      #expect(phone.address == "/D/\(used)/approve")
      expectHarmless(phone.page, name)
      try await phone.send("approve")
      expectHarmless(phone.page, name)
      try await phone.open("/screens")
      expectHarmless(phone.page, name)
      let screen = try #require(
        try await service.core.store.authentications(
          AuthenticationFilter(), after: nil, limit: 1, at: service.core.clock.now
        ).first?.authentication.id.text)
      try await phone.open("/screens/\(screen)/rename")
      expectHarmless(phone.page, name)
      // A form with a NUL in it is no form.
      let new = name.replacing("\u{0}", with: "").prefix(40)
      try await phone.send("rename", ["name": String(new)])
      expectHarmless(phone.page, name)
      try await phone.open("/screens/\(screen)/sign-out")
      expectHarmless(phone.page, name)
      try await phone.send("sign-out")
      expectHarmless(phone.page, name)
    }
  }
}

private func hex(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count == 1 ? "0\(digits)" : digits
}

@Suite struct `a hostile phone` {
  @Test func `gets nowhere with a cookie it has changed`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      let name = "__Host-regent-session"
      let cookie = try #require(phone.cookies[name])
      var changed = [
        String(cookie.dropLast()), cookie + "A", cookie.lowercased(), cookie.uppercased(), "",
        String(cookie.reversed()), String(repeating: "A", count: 43),
        String(repeating: "A", count: 8000), "%41" + cookie.dropFirst(),
      ]
      for place in stride(from: 0, to: cookie.count, by: 7) {
        var letters = Array(cookie)
        letters[place] = letters[place] == "x" ? "y" : "x"
        changed.append(String(letters))
      }
      for value in changed {
        var other = phone
        other.cookies[name] = value
        let answer = try await other.open("/screens")
        #expect(answer.status == 200 || answer.status == 431, "\(value)")
        #expect(answer.status == 431 || other.address.hasPrefix("/sign-in"), "\(value)")
      }
      // Two of a name: somebody slipped one in, and nobody knows which.
      let line = "\(name)=\(cookie); \(name)=\(String(repeating: "A", count: 43))"
      let answer = try await client.get(
        "/screens", headers: [("Host", "tv.example.org"), ("Cookie", line)])
      #expect(answer.status == 303)
      // And the right one alone is let in.
      #expect(try await phone.open("/screens").status == 200)
      #expect(phone.address == "/screens")
    }
  }

  @Test func `says yes once, however often it says it`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      let id = try service.found(code)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      let token = phone.formToken
      var other = PhoneBrowser(client)
      try await other.open("/D/\(code)")
      try await other.send("open")

      // Two tabs and an impatient finger.
      let first = try await phone.post("/D/\(code)/approve", ["csrf": token])
      #expect(first.header("location") == "/D/\(code)/result")
      let given = service.core.codes.find(id)?.flow.state.approval
      for path in ["approve", "approve", "deny", "number", "release", "renew"] {
        let answer = try await phone.post(
          "/D/\(code)/\(path)", ["csrf": token, "number": "1", "reason": "not-me"])
        #expect(answer.header("location") == "/D/\(code)/result", "\(path)")
      }
      #expect(service.core.codes.find(id)?.flow.state.approval == given)
      let signIns = try await service.core.store.authentications(
        AuthenticationFilter(), after: nil, limit: 9, at: service.core.clock.now)
      #expect(signIns.count == 1)
      // Whoever comes with the same code learns that it is used.
      try await other.open("/D/\(code)/provider")
      #expect(other.page.status == 410)
      for path in ["approve", "deny", "release"] {
        let answer = try await other.post("/D/\(code)/\(path)", ["csrf": other.formToken])
        #expect(answer.status == 410, "\(path)")
      }
      #expect(service.core.codes.find(id)?.flow.state.approval == given)
    }
  }

  @Test func `cannot decide about a code that it has not opened`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      let id = try service.found(code)
      var victim = PhoneBrowser(client)
      try await victim.reachApproval(code)
      var attacker = PhoneBrowser(client)
      try await attacker.signIn("second")
      let token = attacker.formToken
      // The mark of an opened code is bound to its browser; a stolen or made-up one opens nothing.
      for mark in [
        victim.cookie("codes") ?? "", code, code + String(repeating: "A", count: 43),
        "\(code)\(code)", ".", String(repeating: ".", count: 4000),
      ] {
        attacker.cookies["__Host-regent-codes"] = mark
        for path in ["approve", "deny", "number", "provider", "sign-in", "release", "renew"] {
          let answer = try await attacker.post(
            "/D/\(code)/\(path)",
            ["csrf": token, "provider": "local", "user": "second", "password": "demo"])
          #expect(answer.header("location") == "/D/\(code)", "\(path) with \(mark.prefix(20))")
        }
      }
      let state = service.core.codes.find(id)?.flow.state
      guard case .claimed(let lease)? = state else {
        Issue.record("\(String(describing: state))")
        return
      }
      #expect(lease.claimer.viewer.account?.text == Sample.account)
    }
  }

  @Test(arguments: [false, true])
  func `may say yes late, unless somebody else took the code meanwhile`(isTaken: Bool) async throws
  {
    let service = try await TestService()
    try await service.addAccount("second")
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      let id = try service.found(code)
      var late = PhoneBrowser(client)
      try await late.reachApproval(code)
      service.clock.pass(.seconds(121))
      if isTaken {
        var second = PhoneBrowser(client)
        try await second.reachApproval(code, user: "second")
        #expect(second.page.status == 200)
      }
      let answer = try await late.post("/D/\(code)/approve", ["csrf": late.formToken])
      #expect(answer.status == (isTaken ? 409 : 303))
      let account = service.core.codes.find(id)?.flow.state.approval?.viewer.account?.text
      #expect(account == (isTaken ? nil : Sample.account))
    }
  }

  @Test(
    arguments: [HostileText]([
      "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "/%2fevil",
      "///evil.example", "/\t/evil.example", "/ /evil.example", "javascript:alert(1)", "data:,x",
      "https:evil.example", "/x\r\nSet-Cookie: a=b", "/／evil.example", "。evil.example", "/\u{0}",
      "@evil.example", "http://tv.example.org@evil.example", "/.//evil.example", "?x", "",
    ]))
  func `is never sent elsewhere by a field that says where to`(hostile: HostileText) async throws {
    let address = hostile.text
    let service = try await TestService()
    try await withPhone(service) { client in
      func expectOurs(_ answer: TestResponse, _ step: String) {
        if address.utf8.contains(0) {
          // A form with a NUL in it is no form.
          #expect(answer.status == 403)
          return
        }
        #expect(answer.status == 303, "\(step)")
        let place = answer.header("location") ?? ""
        #expect(place.hasPrefix("/"), "\(step): \(place)")
        let second = place.dropFirst().first
        #expect(second != "/" && second != "\\", "\(step): \(place)")
        #expect(place.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(answer.headers("set-cookie").allSatisfy { !$0.hasPrefix("a=b") })
      }
      var phone = PhoneBrowser(client)
      try await phone.open("/")
      let switched = try await phone.post(
        "/language", ["csrf": phone.formToken, "language": "it", "return": address])
      expectOurs(switched, "language")
      let query = address.utf8.map { "%" + hex($0) }.joined()
      try await phone.open("/sign-in?return=\(query)")
      #expect(phone.page.status == 200)
      let signed = try await phone.post(
        "/sign-in/local?return=\(query)",
        [
          "csrf": phone.formToken, "user": Sample.account, "password": Sample.password,
          "return": address,
        ])
      expectOurs(signed, "sign-in")
    }
  }

  @Test(arguments: [
    ("Host", "evil.example"), ("X-Forwarded-Host", "evil.example"),
    ("Forwarded", "host=evil.example"),
    ("X-Forwarded-Proto", "http"), ("X-Original-URL", "/screens"), ("X-Rewrite-URL", "/screens"),
    ("X-Forwarded-For", "203.0.113.9"), ("X-HTTP-Method-Override", "POST"),
    ("X-Forwarded-Prefix", "/evil.example"),
  ])
  func `changes no page with a header that proxies write`(name: String, value: String) async throws
  {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      for path in ["/", "/D/\(code)", "/screens", "/sign-in", "/nothing", "/D/\(code)/approve"] {
        let host = name == "Host" ? [] : [("Host", "tv.example.org")]
        let answer = try await client.get(path, headers: host + [(name, value)])
        #expect(!answer.text.contains("evil"), "\(path)")
        for header in answer.headers { #expect(!header.value.contains("evil"), "\(path)") }
        #expect(answer.headers("set-cookie").allSatisfy { $0.contains("; Secure") })
        #expect(!answer.text.contains("plain-http"))
      }
      #expect(service.core.codes.find(try service.found(code))?.flow.state.status == .offered)
    }
  }

  @Test func `breaks nothing with forms that no browser sends`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code)
      let token = phone.formToken
      let form = "application/x-www-form-urlencoded"
      let long = String(repeating: "x", count: 60_000)
      let bodies: [(type: String, body: String)] = [
        (form, ""), (form, "&&&==&"), (form, "csrf"), (form, "csrf=%"), (form, "csrf=%zz"),
        (form, "csrf=%ff%fe"), (form, "csrf=\(token)%00"), (form, "csrf=\(long)"),
        (form, "csrf=x&csrf=\(token)"), (form, "csrf[]=\(token)"), (form, "CSRF=\(token)"),
        (form, (0..<5000).map { "a\($0)=1" }.joined(separator: "&")),
        ("text/plain", "csrf=\(token)"), ("application/json", "{\"csrf\":\"\(token)\"}"),
        (
          "multipart/form-data; boundary=x",
          "--x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n\(token)\r\n--x--"
        ),
        ("", "csrf=\(token)"),
      ]
      let cookies = phone.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
      for path in ["/D/\(code)/approve", "/D/\(code)/deny", "/code", "/password", "/sign-out"] {
        for (type, body) in bodies {
          var request = TestRequest(
            "POST", path,
            headers: [
              ("Host", "tv.example.org"), ("Cookie", cookies), ("Origin", "https://tv.example.org"),
            ], body: Array(body.utf8))
          if !type.isEmpty { request.headers.append(("Content-Type", type)) }
          let answer = try await client.send(request)
          #expect([403, 413].contains(answer.status), "\(path) \(type) \(body.prefix(30))")
        }
        for method in ["PUT", "DELETE", "PATCH", "QUERY"] {
          var request = TestRequest(method, path, body: Array("csrf=\(token)".utf8))
          request.headers = [
            ("Host", "tv.example.org"), ("Cookie", cookies), ("Content-Type", form),
          ]
          #expect(try await client.send(request).status == 405, "\(method) \(path)")
        }
      }
      #expect(service.core.codes.find(try service.found(code))?.flow.state.status == .claimed)
      // Fields are read once; the browser's own form still works.
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
    }
  }

  @Test func `finds nothing in what a cache or the way back could show`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.signIn()
      for path in ["/screens", "/password", "/sign-out", "/"] {
        let page = try await phone.open(path)
        #expect(page.header("cache-control") == "no-store", "\(path)")
        #expect(page.header("etag") == nil && page.header("last-modified") == nil)
      }
      let old = phone
      try await phone.open("/sign-out")
      let signedOut = try await phone.send("sign-out")
      #expect(signedOut.header("clear-site-data") == #""cache""#)
      // The session is dead, not only forgotten by this browser.
      var copy = old
      #expect(try await copy.open("/screens").text.contains(Sample.account) == false)
      #expect(copy.address.hasPrefix("/sign-in"))
    }
  }
}

@Suite struct `a password that was hashed with less work` {
  @Test func `is hashed anew when it is next typed, and nobody is signed out`() async throws {
    let service = try await TestService()
    let weaker = try PasswordHasher(#require(Argon2Parameters(memory: 8, passes: 1, lanes: 1)))
    let old = try await weaker.hash(Secret(Sample.password))
    let store = service.core.store
    let (name, provider): (AccountName, ProviderID) = (
      try named(Sample.account), try named(Sample.provider)
    )
    func stored() async throws -> String? { try await store.password(of: name, at: provider) }
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      _ = try await store.setPassword(
        old, of: name, at: provider, keeping: nil, audit: nil, at: service.core.clock.now)
      var other = PhoneBrowser(client)
      try await phone.open("/sign-in")
      try await phone.send("sign-in/local", ["user": Sample.account, "password": "x"])
      #expect(try await stored() == old)
      try await phone.signIn()
      let new = try #require(try await stored())
      #expect(new != old && new.contains("$m=64,"))
      try await other.signIn()
      #expect(other.address == "/screens")
      #expect(try await stored() == new)
      try await phone.open("/screens")
      #expect(phone.address == "/screens")
    }
  }
}
