import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentJSON
import RegentPairing
import SQLite
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService
@testable import RegentOAuth

/// What somebody sends by the thousand, or in forms that no client has.
@Suite struct `a flood at the endpoints of OAuth` {
  private func checked(_ number: Int, seconds: Int64) -> ClientAssertion.Checked {
    ClientAssertion.Checked(
      fingerprint: SHA256.hash("assertion \(number)"),
      expires: Instant(milliseconds: 1_700_000_000_000) + .seconds(seconds), made: nil)
  }

  @Test func `of assertions of clients that registered themselves leaves the places of others free`() throws {
    let assertions = UsedAssertions(startingAt: Instant(milliseconds: 0), capacity: 50, strangers: 10)
    let now = Instant(milliseconds: 1_700_000_000_000)
    func take(_ number: Int, isStrange: Bool, seconds: Int64 = 600, at now: Instant) throws -> OAuthError.Code? {
      let client: ClientID = try named("client-\(number)")
      do throws(OAuthError) {
        try assertions.take(checked(number, seconds: seconds), of: client, isStrange: isStrange, at: now)
        return nil
      } catch { return error.code }
    }
    for number in 0..<10 { #expect(try take(number, isStrange: true, at: now) == nil) }
    #expect(try take(10, isStrange: true, at: now) == .temporarilyUnavailable)
    for number in 100..<150 { #expect(try take(number, isStrange: false, at: now) == nil) }
    #expect(try take(150, isStrange: false, at: now + .seconds(1)) == .temporarilyUnavailable)
    #expect(assertions.counts == (others: 50, strangers: 10))
    // When they are over, there is room again, and none counts twice before.
    let later = now + .seconds(659)
    #expect(try take(10, isStrange: true, seconds: 900, at: later) == .temporarilyUnavailable)
    #expect(try take(10, isStrange: true, seconds: 900, at: later + .seconds(1)) == nil)
    #expect(try take(10, isStrange: true, seconds: 900, at: later + .seconds(2)) == .invalidClient)
    #expect(assertions.counts == (others: 50, strangers: 1))
  }

  @Test func `of assertions of one client that registered itself leaves places for the others`() throws {
    let assertions = UsedAssertions(startingAt: Instant(milliseconds: 0), capacity: 10, strangers: 160)
    let now = Instant(milliseconds: 1_700_000_000_000)
    var next = 0
    func fill(_ name: String, isStrange: Bool = true, at now: Instant) throws -> Int {
      let client: ClientID = try named(name)
      var taken = 0
      for _ in 0..<50 {
        next += 1
        let seconds: Int64 = now.since(Instant(milliseconds: 1_700_000_000_000)).components.seconds + 600
        if (try? assertions.take(checked(next, seconds: seconds), of: client, isStrange: isStrange, at: now)) != nil {
          taken += 1
        }
      }
      return taken
    }
    #expect(try fill("noisy", at: now) == 10)
    for number in 1...15 { #expect(try fill("other-\(number)", at: now) == 10) }
    #expect(try fill("late", at: now) == 0)
    // What an operator made has no share: it has all of theirs.
    #expect(try fill("operators", isStrange: false, at: now) == 10)
    // Over, they leave their places, and one has its share again.
    let later = now + .seconds(660)
    #expect(try fill("noisy", at: later) == 10)
    #expect(assertions.counts == (others: 10, strangers: 10))
  }

  @Test func `of assertions that say no time leaves places for those that are to be written down`() throws {
    let assertions = UsedAssertions(startingAt: Instant(milliseconds: 0), capacity: 80)
    let now = Instant(milliseconds: 1_700_000_000_000)
    let client: ClientID = try named("client")
    for number in 0..<40 { try assertions.take(checked(number, seconds: 1), of: client, isStrange: false, at: now) }
    // Those of before are over, though there are places left for all.
    let later = now + .seconds(61)
    try assertions.take(checked(40, seconds: 100), of: client, isStrange: false, at: later)
    let kept = UsedAssertions(startingAt: later, keptAs: [assertions.text(at: later)])
    #expect(throws: OAuthError.self) {
      try kept.take(checked(40, seconds: 100), of: client, isStrange: false, at: later)
    }
  }

  @Test func `of assertions is counted by who says what the client is`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      for (origin, expected) in [(OAuthClientRecord.Origin.itself, (0, 2)), (.invited, (0, 4)), (.operator, (2, 4))] {
        let box = try await OAuthBox(service, client, .key, origin: origin)
        // At the store's client, and at the one that was kept with the code.
        let code = try await box.begin()
        #expect(try await box.ask(code.device).error == "authorization_pending")
        #expect(service.core.oauth.assertions.counts == expected)
      }
    }
  }

  @Test func `of proofs of one device leaves room for everybody's`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      let key = try SigningKey.generate(.es256)
      box.proofKey = key
      let tokens = try await box.pair()
      let before = service.core.oauth.proofs.count
      let burst = Int(service.core.options.limits.device.burst)
      var refused = 0
      for _ in 0..<(burst + 50) {
        let answer = try await client.get(
          "/oauth/userinfo",
          headers: [
            ("Authorization", "DPoP \(tokens.access)"),
            ("DPoP", try box.proof("userinfo", key, method: "GET", token: tokens.access)),
          ])
        if answer.status == 429 { refused += 1 } else { #expect(answer.status == 200) }
      }
      #expect(refused >= 50)
      #expect(service.core.oauth.proofs.count - before <= burst)
      // Nor does it refresh without end, and its token is as good afterwards.
      let refresh = try #require(tokens.refresh)
      #expect(try await box.refresh(refresh).status == 429)
      service.clock.pass(.seconds(30))
      #expect(try await box.refresh(refresh).status == 200)
    }
  }

  @Test func `of proofs without a code takes no room, and one source not that of others`() async throws {
    let service = try await TestService { $0.limits.liveCodes = 20 }
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let key = try SigningKey.generate(.es256)
      var statuses: [UInt16: Int] = [:]
      for _ in 0..<60 {
        let answer = try await client.post(
          "/oauth/device_authorization", form: [("client_id", box.id)],
          headers: [("DPoP", try box.proof("device_authorization", key))])
        statuses[answer.status, default: 0] += 1
      }
      #expect(statuses == [200: 20, 503: 40])
      #expect(service.core.oauth.proofs.count == 20)
    }
  }

  @Test func `of refreshes with a grant that waits for an operator has the rate of a device`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      box.proofKey = try SigningKey.generate(.es256)
      let refresh = try #require(try await box.pair().refresh)
      #expect(try await box.refresh(refresh).status == 200)
      try await Switch.integration.set(false, service)
      let (before, burst) = (service.core.oauth.proofs.count, service.core.options.limits.device.burst)
      var statuses: [UInt16: Int] = [:]
      // An answer that got lost is given again, and opens nothing; each time with another proof.
      for _ in 0..<(burst + 20) { statuses[try await box.refresh(refresh).status, default: 0] += 1 }
      #expect(statuses[429, default: 0] >= 20 && statuses[200, default: 0] > burst / 2)
      #expect(service.core.oauth.proofs.count - before <= burst)
    }
  }

  @Test func `of made-up tokens takes no room, and asks no store`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .basic)
        let tokens = try await box.pair()
        #expect(try await api.introspect(tokens.access)["active"] == true)
        let (before, memory) = (store.statistics, service.core.oauth.standing.counts)
        let known = service.core.oauth.accessTokens.count
        let parts = tokens.access.split(separator: ".").map(String.init)
        let refresh = try #require(tokens.refresh)
        for number in 0..<300 {
          let signature = base64url(SHA256.hash("signature \(number)") + SHA256.hash("more \(number)"))
          let forged = "\(parts[0]).\(parts[1]).\(signature)"
          for made in [forged, "\(number)" + refresh.dropFirst(4), "token-\(number)"] {
            #expect(try await api.introspect(made) == ["active": false])
          }
        }
        #expect(store.statistics.reads == before.reads)
        #expect(store.statistics.requests == before.requests)
        #expect(service.core.oauth.standing.counts == memory)
        #expect(service.core.oauth.accessTokens.count == known)
      }
    }
  }

  private static let hostile: [String] = [
    "\u{0}", "a\u{0}b", "\u{FEFF}", "\u{202E}", "a\r\nX-Injected: 1", "\"\\", "<script>",
    String(repeating: "x", count: 20_000),
    "..%2f..", "🄰", " ", "null", "-1", "[]", "{}", "openid\u{0}", String(repeating: "openid ", count: 1_000),
  ]

  @Test(arguments: ["device_authorization", "token", "introspect", "revoke"])
  func `of hostile values is refused in words of OAuth, and nothing of them comes back`(path: String) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let api = try await OAuthBox(service, client, .body)
      let tokens = try await box.pair()
      let good: [(name: String, value: String)] =
        switch path {
        case "device_authorization": [("client_id", box.id), ("scope", "openid")]
        case "token":
          [("client_id", box.id), ("grant_type", "refresh_token"), ("refresh_token", try #require(tokens.refresh))]
        default: [("client_id", api.id), ("client_secret", api.secret), ("token", tokens.access)]
        }
      let more = [
        "scope", "code_challenge", "code_verifier", "device_code", "client_assertion", "client_assertion_type",
      ]
      for value in Self.hostile {
        for name in good.map(\.name) + more where path != "introspect" && path != "revoke" || name != "token" {
          let form = good.filter { $0.name != name } + [(name, value)]
          let answer = try await client.post("/oauth/" + path, form: form)
          #expect((200..<500).contains(answer.status), "\(name)=\(value.prefix(20)): \(answer.status)")
          #expect(answer.header("x-injected") == nil)
          #expect(!answer.text.contains("<script>"))
          if answer.status != 200, !answer.text.isEmpty { #expect(answer.error != nil, "\(name): \(answer.text)") }
          // Twice, whatever the values are.
          let twice = try await client.post("/oauth/" + path, form: good + [(name, value), (name, value)])
          #expect(twice.status == 400 || twice.status == 413, "\(name) twice: \(twice.status)")
        }
        service.clock.pass(.seconds(60))
      }
    }
  }

  @Test(arguments: ["device_authorization", "token", "introspect", "revoke"])
  func `of bodies that are no forms is refused`(path: String) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let form = "client_id=\(box.id)"
      for type in ["application/json", "text/plain", "multipart/form-data; boundary=x", "", "application/x-www-form"] {
        let answer = try await client.send(
          TestRequest(
            "POST", "/oauth/" + path, headers: type.isEmpty ? [] : [("Content-Type", type)], body: Array(form.utf8)))
        #expect(answer.status == 400, "\(type): \(answer.status) \(answer.text)")
        #expect(answer.error == "invalid_request")
      }
      for body in [
        "client_id=%ZZ", "client_id=%", "client_id=%C0%AF", "client_id=%FF", "=\(box.id)", "&&&", "client_id",
      ] {
        let answer = try await client.send(
          TestRequest(
            "POST", "/oauth/" + path, headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(body.utf8)))
        #expect((400..<500).contains(answer.status), "\(body): \(answer.status)")
        #expect(answer.error == "invalid_request" || answer.error == "invalid_client", "\(body): \(answer.text)")
      }
    }
  }
}
