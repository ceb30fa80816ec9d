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

/// Requests by the thousand, or in forms that no real client sends.
@Suite struct `Floods at the OAuth endpoints` {
  private func checked(_ number: Int, seconds: Int64) -> ClientAssertion.Checked {
    ClientAssertion.Checked(
      fingerprint: SHA256.hash("assertion \(number)"),
      expires: Instant(milliseconds: 1_700_000_000_000) + .seconds(seconds), made: nil)
  }

  @Test func `assertions of self-registered clients leave room for those of other clients`() throws {
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
    // Expired assertions make room again, and none is accepted twice before.
    let later = now + .seconds(659)
    #expect(try take(10, isStrange: true, seconds: 900, at: later) == .temporarilyUnavailable)
    #expect(try take(10, isStrange: true, seconds: 900, at: later + .seconds(1)) == nil)
    #expect(try take(10, isStrange: true, seconds: 900, at: later + .seconds(2)) == .invalidClient)
    #expect(assertions.counts == (others: 50, strangers: 1))
  }

  @Test func `one self-registered client cannot use up the capacity for assertions of other self-registered clients`()
    throws
  {
    let assertions = UsedAssertions(startingAt: Instant(milliseconds: 0), capacity: 32, strangers: 160)
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
    // When its assertions have expired, a client has its share again.
    let later = now + .seconds(660)
    #expect(try fill("noisy", at: later) == 10)
    #expect(assertions.counts == (others: 0, strangers: 10))
    // A client that an operator added may use half of the places alone; the rest is for each of them in shares.
    #expect(try fill("operators", isStrange: false, at: later) == 16)
    for number in 1...8 { #expect(try fill("other-operators-\(number)", isStrange: false, at: later) == 2) }
    #expect(try fill("late-operators", isStrange: false, at: later) == 0)
  }

  @Test func `expired assertions do not keep a new assertion from being stored`() throws {
    let assertions = UsedAssertions(startingAt: Instant(milliseconds: 0), capacity: 80)
    let now = Instant(milliseconds: 1_700_000_000_000)
    let client: ClientID = try named("client")
    for number in 0..<40 { try assertions.take(checked(number, seconds: 1), of: client, isStrange: false, at: now) }
    // The first 40 assertions have expired, so they must not keep the next one from being written down.
    let later = now + .seconds(61)
    try assertions.take(checked(40, seconds: 100), of: client, isStrange: false, at: later)
    let kept = UsedAssertions(startingAt: later, keptAs: [assertions.text(at: later)])
    #expect(throws: OAuthError.self) {
      try kept.take(checked(40, seconds: 100), of: client, isStrange: false, at: later)
    }
  }

  @Test func `an assertion counts by the origin of its client, also when the client was kept with a code`() async throws
  {
    let service = try await TestService()
    try await withOAuth(service) { client in
      for (origin, expected) in [(OAuthClientRecord.Origin.itself, (0, 2)), (.invited, (0, 4)), (.operator, (2, 4))] {
        let box = try await OAuthBox(service, client, .key, origin: origin)
        // The first request reads the client from the store, and the second uses the client kept with the code.
        let code = try await box.begin()
        #expect(try await box.ask(code.device).error == "authorization_pending")
        #expect(service.core.oauth.assertions.counts == expected)
      }
    }
  }

  @Test func `one device cannot use up the capacity for DPoP proofs of other devices`() async throws {
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
      // The device cannot refresh above its rate either, and its refresh token stays valid.
      let refresh = try #require(tokens.refresh)
      #expect(try await box.refresh(refresh).status == 429)
      service.clock.pass(.seconds(30))
      #expect(try await box.refresh(refresh).status == 200)
    }
  }

  @Test func `the proof of a code request that is refused is not stored`() async throws {
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

  @Test func `refreshes of a paused grant have the rate limit of a device`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      box.proofKey = try SigningKey.generate(.es256)
      let refresh = try #require(try await box.pair().refresh)
      #expect(try await box.refresh(refresh).status == 200)
      try await Switch.integration.set(false, service)
      let (before, burst) = (service.core.oauth.proofs.count, service.core.options.limits.device.burst)
      var statuses: [UInt16: Int] = [:]
      // A lost response is given again and creates no new tokens. Each request has a new proof.
      for _ in 0..<(burst + 20) { statuses[try await box.refresh(refresh).status, default: 0] += 1 }
      #expect(statuses[429, default: 0] >= 20 && statuses[200, default: 0] > burst / 2)
      #expect(service.core.oauth.proofs.count - before <= burst)
    }
  }

  @Test func `made-up tokens take no memory and cause no store reads`() async throws {
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
  func `hostile parameter values are refused with OAuth errors and are not echoed`(path: String) async throws {
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
          // A repeated parameter is refused, whatever its values.
          let twice = try await client.post("/oauth/" + path, form: good + [(name, value), (name, value)])
          #expect(twice.status == 400 || twice.status == 413, "\(name) twice: \(twice.status)")
        }
        service.clock.pass(.seconds(60))
      }
    }
  }

  @Test(arguments: ["device_authorization", "token", "introspect", "revoke"])
  func `bodies that are no valid forms are refused`(path: String) async throws {
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
