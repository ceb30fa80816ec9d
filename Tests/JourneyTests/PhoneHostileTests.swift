import RegentCryptography
import RegentHTTPCodec
import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Hostile phones` {
  @Test func `a modified session cookie signs in no browser`() async throws {
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
      // With two cookies of this name an attacker may have added one, and the service cannot tell which.
      let line = "\(name)=\(cookie); \(name)=\(String(repeating: "A", count: 43))"
      let answer = try await client.get(
        "/screens", headers: [("Host", "tv.example.org"), ("Cookie", line)])
      #expect(answer.status == 303)
      // The right cookie alone is accepted.
      #expect(try await phone.open("/screens").status == 200)
      #expect(phone.address == "/screens")
    }
  }

  @Test func `repeated approvals count once, and later decisions change nothing`() async throws {
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

      // As a viewer with two tabs or a double tap would.
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
      // Another browser with the same code is told that the code is used.
      try await other.open("/D/\(code)/provider")
      #expect(other.page.status == 410)
      for path in ["approve", "deny", "release"] {
        let answer = try await other.post("/D/\(code)/\(path)", ["csrf": other.formToken])
        #expect(answer.status == 410, "\(path)")
      }
      #expect(service.core.codes.find(id)?.flow.state.approval == given)
    }
  }

  @Test func `a browser cannot decide about a code that it has not opened`() async throws {
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
      // The cookie of an opened code is bound to its browser. A stolen or forged one opens nothing.
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
  func `a late approval counts unless another browser has taken the code meanwhile`(isTaken: Bool) async throws {
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
  func `no form field can redirect the browser to another site`(hostile: HostileText) async throws {
    let address = hostile.text
    let service = try await TestService()
    try await withPhone(service) { client in
      func expectOurs(_ answer: TestResponse, _ step: String) {
        if address.utf8.contains(0) {
          // A form with a NUL is refused.
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
  func `host and proxy headers of an untrusted client change no page`(name: String, value: String) async throws {
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

  @Test func `forms that no browser sends are refused and change nothing`() async throws {
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
      // The form of the browser itself still works.
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
    }
  }

  @Test func `pages are not cached, and a signed-out session cannot be used again`() async throws {
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
      // The session has ended at the service, not only in this browser.
      var copy = old
      #expect(try await copy.open("/screens").text.contains(Sample.account) == false)
      #expect(copy.address.hasPrefix("/sign-in"))
    }
  }
}
