import RegentCryptography
import RegentEncodings
import RegentHTTPCodec
import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

/// A text that is printed escaped, because test reports go to terminals.
struct HostileText: CustomTestStringConvertible, ExpressibleByStringLiteral, Sendable {
  let text: String

  init(stringLiteral text: String) { self.text = text }
  init(_ text: String) { self.text = text }

  var testDescription: String {
    text.unicodeScalars.prefix(40).map { $0.escaped(asASCII: true) }.joined()
  }
}

/// Names that an attacker could choose.
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

/// Expects that a page contains none of what a hostile name tries to inject.
private func expectHarmless(_ page: TestResponse, _ hostile: String) {
  let text = page.text
  let name = HostileText(hostile).testDescription
  #expect(page.status < 500, "\(name)")
  for bad in ["<script>", "<img src=x", "onerror=alert(1)>", "' onmouseover='x", "<b>", "<!--"] {
    let isThere = text.contains(bad)
    #expect(!isThere, "\(bad) of \(name)")
  }
  // The service's own isolates are the only direction marks that a page may contain.
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

@Suite struct `Names that attackers choose` {
  @Test(arguments: hostileNames)
  func `a hostile name of a requestor, provider, device or account does no harm on any page`(hostile: HostileText)
    async throws
  {
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
    try await service.core.refreshProvisioning()
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
      // A form with a NUL is refused, so the name is sent without it.
      let new = name.replacing("\u{0}", with: "").prefix(40)
      try await phone.send("rename", ["name": String(new)])
      expectHarmless(phone.page, name)
      try await phone.open("/screens/\(screen)/sign-out")
      expectHarmless(phone.page, name)
      try await phone.send("sign-out")
      expectHarmless(phone.page, name)
    }
  }

  /// A reader of the audit log must not mistake the name of a box for words of the service.
  @Test func `the name of a box is quoted in the audit log and cannot imitate its sentences`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      let forged = #"TV" (refused): acme for cable/bob, device 0011 "\x"#
      let answer = try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box",
        headers: [("X-Device-Info", Base64.encode(JSONValue.object(["deviceName": .string(forged)]).bytes()))])
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try answer.json().string("code"))
      try await phone.send("approve")
      let detail = try #require(try await service.audit("code.approve").first?.detail)
      #expect(detail.hasSuffix(#" "TV\" (refused): acme for cable/bob, device 0011 \"\\x""#), "\(detail)")
    }
  }

  /// The name of an OAuth client appears on pages, in the audit log, and from there in terminals.
  @Test(arguments: hostileNames)
  func `a hostile client name is refused or does no harm on any page`(hostile: HostileText) async throws {
    let service = try await TestService(options: { _ in }) { $0.registration = .open }
    try await withPhone(service) { client in
      let members: JSONObject = [
        "client_name": .string(hostile.text), "token_endpoint_auth_method": "none",
        "id_token_signed_response_alg": "ES256",
      ]
      let made = try await client.send(
        TestRequest(
          "POST", "/oauth/register", headers: [("Content-Type", "application/json")], body: members.bytes()))
      guard made.status == 201 else {
        #expect(made.error == "invalid_client_metadata")
        return
      }
      let steers = hostile.text.unicodeScalars.contains {
        $0.properties.generalCategory == .control || ($0.properties.generalCategory == .format && $0 != "\u{200D}")
      }
      #expect(!steers, "a name with terminal control characters was accepted: \(hostile.testDescription)")
      let id = try made.json().string("client_id")
      let code = try await client.post("/oauth/device_authorization", form: [("client_id", id)]).json()
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try code.string("user_code").replacing("-", with: ""))
      #expect(phone.address.hasSuffix("/approve"))
      expectHarmless(phone.page, hostile.text)
      try await phone.send("approve")
      expectHarmless(phone.page, hostile.text)
      try await phone.open("/screens")
      expectHarmless(phone.page, hostile.text)
      #expect(phone.page.text.contains("This is a program."))
      for line in try await service.core.store.audit(after: 0, limit: 99) {
        #expect(line.entry.detail.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
      }
    }
  }
}

@Suite struct `Client names without visible characters` {
  private static let unseen: [HostileText] = [
    "", " ", "\u{A0}\u{2003}\u{3000}", "\u{200B}\u{200D}\u{FEFF}", "\u{202E}\u{2066}", "\u{3164}", "\u{115F}\u{1160}",
    "\u{2800}\u{2800}", "\u{FFA0} \u{3164}", "\u{FE0F}", "\u{301}\u{302}", "\u{E000}", "\u{E0100}", "\u{34F}",
    "\u{180B}\u{17B4}", "\u{1D159}", "\u{13441}\u{13442}", "\u{FFFC}", "\u{303F}", "\u{16FE4}", "\u{FFFC} \u{2800}",
  ]

  @Test(arguments: unseen)
  func `registration, update and the admin socket refuse a client name without visible characters`(name: HostileText)
    async throws
  {
    let service = try await TestService(options: { _ in }) { $0.registration = .open }
    let admin = try AdminSocket(service.core)
    try await withPhone(service) { client in
      let members: JSONObject = [
        "client_name": .string(name.text), "token_endpoint_auth_method": "none",
        "id_token_signed_response_alg": "ES256",
      ]
      func send(_ method: String, _ path: String, _ token: String?, _ members: JSONObject) async throws -> TestResponse
      {
        let headers = [(name: "Content-Type", value: "application/json")] + (token.map { [bearer($0)] } ?? [])
        return try await client.send(TestRequest(method, path, headers: headers, body: members.bytes()))
      }
      let refused = try await send("POST", "/oauth/register", nil, members)
      #expect(refused.error == "invalid_client_metadata", "\(refused.text)")
      // An update to such a name is refused, too.
      var named = members
      named["client_name"] = "Named"
      let made = try await send("POST", "/oauth/register", nil, named).json()
      let id = try made.string("client_id")
      var changed = members
      changed["client_id"] = .string(id)
      let token = try made.string("registration_access_token")
      #expect(try await send("PUT", "/oauth/register/\(id)", token, changed).error == "invalid_client_metadata")
      func text(_ object: JSONObject) -> String { String(decoding: object.bytes(), as: UTF8.self) }
      let added: JSONObject = ["name": .string(name.text), "kind": "public", "algorithm": "ES256"]
      #expect(try await admin.send("POST", "/v1/requestors/REF30/clients", text(added)).status == 400)
      let renamed: JSONObject = ["name": .string(name.text)]
      #expect(try await admin.send("PATCH", "/v1/clients/\(id)", text(renamed)).status == 400)
    }
  }

  /// A client that an earlier version stored with such a name, or one that never gave a name.
  @Test(arguments: [OAuthClientRecord.Origin.itself, .operator])
  func `a stored client with an invisible name is shown by its id on the pages`(origin: OAuthClientRecord.Origin)
    async throws
  {
    let service = try await TestService()
    try await withPhone(service) { client in
      let box = try await OAuthBox(service, client, name: "Kodi", origin: origin)
      let id: ClientID = try named(box.id)
      let there = try #require(try await service.core.store.oauthClient(id))
      var unseen = there
      unseen.name = "\u{3164}"
      try await service.core.store.put(
        unseen, replacing: there, in: .unlimited, audit: nil, at: service.clock.now)
      let code = try await box.begin()
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(code.user.replacing("-", with: ""))
      #expect(phone.page.text.contains(box.id))
      #expect(phone.page.text.contains("The device calls itself") == (origin == .itself))
      try await phone.send("approve")
      try await phone.open("/screens")
      #expect(phone.page.text.contains(box.id))
    }
  }

  @Test func `a client registers without a name and is shown by its id`() async throws {
    let service = try await TestService(options: { _ in }) { $0.registration = .open }
    try await withPhone(service) { client in
      let members: JSONObject = ["token_endpoint_auth_method": "none", "id_token_signed_response_alg": "ES256"]
      let made = try await client.send(
        TestRequest("POST", "/oauth/register", headers: [("Content-Type", "application/json")], body: members.bytes()))
      let id = try made.json().string("client_id")
      let code = try await client.post("/oauth/device_authorization", form: [("client_id", id)]).json()
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try code.string("user_code").replacing("-", with: ""))
      #expect(phone.page.text.contains("The device calls itself") && phone.page.text.contains(id))
    }
  }
}

func hex(_ byte: UInt8) -> String {
  let digits = String(byte, radix: 16)
  return digits.count == 1 ? "0\(digits)" : digits
}
