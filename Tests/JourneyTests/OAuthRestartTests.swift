import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentCryptography
import RegentJSON
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService
@testable import RegentOAuth

/// Credentials that count once, sent again to a restarted service that has no memory of them.
@Suite struct `Replay after a restart of the OAuth service` {
  /// A proof without a nonce, as a client sends before it was told one.
  private func proof(
    _ box: OAuthBox, _ key: SigningKey, of path: String = "device_authorization", method: String = "POST",
    token: String? = nil, ahead: Duration = .zero
  ) throws -> String {
    let target = try #require(ProofTarget("\(OAuthBox.issuer)/\(path)"))
    return try DPoPProof.make(
      for: .init(method: method, target: target, accessToken: token), with: key, nonce: nil,
      at: box.service.clock.now + ahead)
  }

  private func ask(_ box: OAuthBox, _ proof: String) async throws -> TestResponse {
    try await box.client.post(
      "/oauth/device_authorization", form: [("client_id", box.id)], headers: [("DPoP", proof)])
  }

  private func look(_ box: OAuthBox, _ token: String, _ proof: String) async throws -> TestResponse {
    try await box.client.get(
      "/oauth/userinfo", headers: [("Authorization", "DPoP \(token)"), ("DPoP", proof)])
  }

  @Test(arguments: [Duration.zero, .seconds(60)])
  func `proofs without a nonce are refused until no proof from before the restart is still valid`(ahead: Duration)
    async throws
  {
    let store = MemoryStore()
    let service = try await TestService(on: store)
    let key = try SigningKey.generate(.es256)
    service.clock.pass(.seconds(120))
    var (kept, seen, token): (OAuthBox?, (code: String, look: String), String) = (nil, ("", ""), "")
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      seen.code = try proof(box, key, ahead: ahead)
      #expect(try await ask(box, seen.code).status == 200)
      #expect(try await ask(box, seen.code).error == "invalid_dpop_proof")
      box.proofKey = key
      token = try await box.pair().access
      seen.look = try proof(box, key, of: "userinfo", method: "GET", token: token, ahead: ahead)
      #expect(try await look(box, token, seen.look).status == 200)
      kept = box
    }
    service.clock.pass(.seconds(1))
    let again = try await TestService(restarting: service, on: store)
    try await withOAuth(again) { client in
      let box = OAuthBox(try #require(kept), at: again, client)
      for _ in 0..<2 {
        let told = try await ask(box, seen.code)
        #expect(told.status == 400 && told.error == "use_dpop_nonce", "\(told.text)")
        #expect(told.header("dpop-nonce") != nil)
        let refused = try await look(box, token, seen.look)
        #expect(refused.status == 401 && refused.error == "use_dpop_nonce", "\(refused.text)")
        #expect(refused.header("dpop-nonce") != nil)
        again.clock.pass(.seconds(59))
      }
      // With a nonce the client succeeds at once, and later without one as well.
      #expect(try await look(box, token, try box.proof("userinfo", key, method: "GET", token: token)).status == 200)
      #expect(try await ask(box, try proof(box, key)).status == 200)
      again.clock.pass(.seconds(30))
      #expect(try await ask(box, seen.code).error == "use_dpop_nonce")
    }
  }

  @Test func `a corrected clock lets no proof be used a second time`() throws {
    let key = try SigningKey.generate(.edDSA)
    let (wall, boot) = (Instant(milliseconds: 1_790_000_000_000), Uptime(milliseconds: 5_000))
    var forgotten = ForgottenProofs(wall: wall, boot: boot)
    func has(_ made: Duration, at now: Duration, _ passed: Duration) throws -> Bool {
      let request = DPoPProof.Request(
        method: "POST", target: try #require(ProofTarget("https://tv.example.com/oauth/token")))
      let text = try DPoPProof.make(for: request, with: key, nonce: nil, at: wall + made)
      return forgotten.has(try DPoPProof(text, for: request), wall: wall + now, boot: boot + passed)
    }
    #expect(try has(.seconds(60), at: .seconds(10), .seconds(10)))
    #expect(try !has(.seconds(61), at: .seconds(10), .seconds(10)))
    // The clock was an hour behind, so the service started an hour later than the clock said.
    #expect(try has(.seconds(3650), at: .seconds(3620), .seconds(20)))
    #expect(try !has(.seconds(3700), at: .seconds(3700), .seconds(100)))
    // A day later the clock is set back by an hour. Only proofs from the repeated hour are in doubt.
    #expect(try !has(.seconds(90_000), at: .seconds(90_000), .seconds(86_400)))
    #expect(try has(.seconds(89_990), at: .seconds(89_990), .seconds(89_990)))
    #expect(try !has(.seconds(90_001), at: .seconds(90_001), .seconds(90_001)))
    // A small correction is covered by what memory keeps.
    #expect(try !has(.seconds(90_010), at: .seconds(89_990), .seconds(90_290)))
  }

  @Test func `an assertion from before a restart is refused, and a new one is accepted at once`() async throws {
    let store = MemoryStore()
    let service = try await TestService(on: store)
    service.clock.pass(.seconds(120))
    func assertion(_ box: OAuthBox, made: Duration?) throws -> String {
      let now = box.service.clock.now.second
      var claims: JSONObject = [
        "iss": .string(box.id), "sub": .string(box.id), "aud": .string(OAuthBox.issuer), "jti": .string(Random.uuid()),
        "exp": .integer(now + 600),
      ]
      claims["iat"] = made.map { .integer(now + $0.components.seconds) }
      return try JWS.sign(claims.bytes(), with: try #require(box.key), keyID: "k", type: "JWT")
    }
    func send(_ box: OAuthBox, _ assertion: String) async throws -> TestResponse {
      try await box.client.post(
        "/oauth/device_authorization",
        form: [("client_assertion_type", ClientAuthentication.assertionType), ("client_assertion", assertion)])
    }
    var (boxes, shown): ([OAuthBox], [(box: Int, text: String)]) = ([], [])
    try await withOAuth(service) { client in
      for origin in [OAuthClientRecord.Origin.operator, .itself] {
        let box = try await OAuthBox(service, client, .key, origin: origin)
        for made in [Duration.zero, .seconds(30), nil] {
          let text = try assertion(box, made: made)
          #expect(try await send(box, text).status == 200)
          #expect(try await send(box, text).error == "invalid_client")
          shown.append((boxes.count, text))
        }
        boxes.append(box)
      }
    }
    await Upkeep(service.core).keepEverything()
    var last = service
    // The second restart still knows the assertions that the first had loaded.
    for _ in 0..<2 {
      let again = try await TestService(restarting: last, on: store)
      again.clock.pass(.seconds(1))
      try await withOAuth(again) { client in
        for (number, text) in shown {
          let answer = try await send(OAuthBox(boxes[number], at: again, client), text)
          #expect(answer.status == 401 && answer.error == "invalid_client", "\(answer.text)")
          #expect(answer.text.contains("make a new assertion for each request"), "\(answer.text)")
        }
        // New assertions are accepted at once, also from a client that does not say when it made them.
        for box in boxes.map({ OAuthBox($0, at: again, client) }) {
          for made in [Duration.zero, nil] {
            #expect(try await send(box, try assertion(box, made: made)).status == 200)
          }
        }
      }
      await Upkeep(again.core).keepEverything()
      last = again
    }
    // An assertion is kept only as long as it is valid.
    last.clock.pass(.seconds(700))
    #expect(last.core.oauth.assertions.text(at: last.clock.now) == "{}")
  }
}
