import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentJSON
import RegentOAuth
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Which clients there are is nobody's business who cannot show that he is one.
@Suite struct `whoever asks in vain which clients there are` {
  /// An assertion of a client that has no key here, or another.
  private func assertion(
    of id: String, with key: SigningKey, keyID: String? = "k", at now: Instant, audience: String = OAuthBox.issuer
  ) throws -> String {
    let claims: JSONObject = [
      "iss": .string(id), "sub": .string(id), "aud": .string(audience), "jti": .string(Random.uuid()),
      "exp": .integer(now.milliseconds / 1000 + 60),
    ]
    return try JWS.sign(claims.bytes(), with: key, keyID: keyID, type: "JWT")
  }

  private func ask(_ client: any TestClient, _ form: [(name: String, value: String)]) async throws -> TestResponse {
    try await client.post(
      "/oauth/token", form: form + [("grant_type", "refresh_token"), ("refresh_token", "x")])
  }

  private func ask(_ client: any TestClient, assertion: String) async throws -> TestResponse {
    try await ask(
      client, [("client_assertion_type", ClientAuthentication.assertionType), ("client_assertion", assertion)])
  }

  @Test func `hears the same words of each`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let (keyed, named) = (try await OAuthBox(service, client, .key), try await OAuthBox(service, client))
      let secret = try await OAuthBox(service, client, .body)
      let now = service.clock.now
      let own = try #require(keyed.key)
      let foreign = try SigningKey.generate(.es256)
      var answers: [String: String] = [:]
      for (what, text) in [
        ("none", try assertion(of: Random.uuid(), with: foreign, at: now)),
        ("another key", try assertion(of: keyed.id, with: foreign, at: now)),
        ("another algorithm", try assertion(of: keyed.id, with: try SigningKey.generate(.edDSA), at: now)),
        ("another id of a key", try assertion(of: keyed.id, with: own, keyID: "other", at: now)),
        ("another audience", try assertion(of: keyed.id, with: own, at: now, audience: "https://other.example.org")),
        ("one without keys", try assertion(of: named.id, with: foreign, at: now)),
        ("one with a secret", try assertion(of: secret.id, with: foreign, at: now)), ("no assertion", "x"),
      ] {
        let answer = try await ask(client, assertion: text)
        #expect(answer.status == 401)
        answers[what] = answer.text
      }
      #expect(Set(answers.values).count == 1, "\(answers)")
      var secrets: Set<String> = []
      for id in [Random.uuid(), keyed.id, named.id, secret.id] {
        secrets.insert(try await ask(client, [("client_id", id), ("client_secret", "wrong")]).text)
      }
      #expect(secrets.count == 1, "\(secrets)")
    }
  }

  /// The quickest of many tries each, in turn: what the machine does besides makes single ones slower, and none quicker.
  private func times(
    _ one: () async throws -> Void, _ other: () async throws -> Void
  ) async throws -> (one: Duration, other: Duration) {
    let clock = ContinuousClock()
    var best = (one: Duration.seconds(9), other: Duration.seconds(9))
    for _ in 0..<400 {
      best.one = min(best.one, try await clock.measure(one))
      best.other = min(best.other, try await clock.measure(other))
    }
    return best
  }

  /// Within an eighth: before, a client that was there took a quarter longer and more.
  private func areAlike(_ times: (one: Duration, other: Duration)) -> Bool {
    max(times.one, times.other) - min(times.one, times.other) < min(times.one, times.other) / 8
  }

  @Test(arguments: SignatureAlgorithm.allCases, [true, false])
  func `waits as long for the refusal of an assertion`(algorithm: SignatureAlgorithm, isOfItsKind: Bool) async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client, isOfItsKind ? .key : .body)
        let key = try SigningKey.generate(algorithm, rsaBits: 2048)
        let now = service.clock.now
        // Of one length, and made before.
        let there = try assertion(of: box.id, with: key, at: now)
        let nobody = try assertion(of: Random.uuid(), with: key, at: now)
        let times = try await times(
          { _ = try await ask(client, assertion: there) }, { _ = try await ask(client, assertion: nobody) })
        #expect(areAlike(times), "\(times)")
      }
    }
  }

  @Test(arguments: [OAuthBox.Way.body, .name, .key])
  func `waits as long for the refusal of a secret`(way: OAuthBox.Way) async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client, way)
        let (there, nobody) = (box.id, Random.uuid())
        let times = try await times(
          { _ = try await ask(client, [("client_id", there), ("client_secret", "wrong")]) },
          { _ = try await ask(client, [("client_id", nobody), ("client_secret", "wrong")]) })
        #expect(areAlike(times), "\(times)")
      }
    }
  }
}
