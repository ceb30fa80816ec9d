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

/// A caller that cannot authenticate must not learn which clients exist.
@Suite struct `Client enumeration by failed authentication` {
  /// Signs an assertion of a client that has no key, or another key, at the service.
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

  @Test func `a failed authentication gets the same response for existing and unknown clients`() async throws {
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

  /// Expects that two refusals take equally long: the minima of hundreds of measurements, taken in turn, differ by at
  /// most an eighth.
  ///
  /// Other load slows single measurements down and speeds none up, so the comparison is repeated up to four times.
  /// Before the fix an existing client took at least a quarter longer in every round.
  private func expectAlike(_ one: () async throws -> Void, _ other: () async throws -> Void) async throws {
    let clock = ContinuousClock()
    var rounds: [(one: Duration, other: Duration)] = []
    for _ in 0..<4 {
      var best = (one: Duration.seconds(9), other: Duration.seconds(9))
      for _ in 0..<300 {
        best.one = min(best.one, try await clock.measure(one))
        best.other = min(best.other, try await clock.measure(other))
      }
      rounds.append(best)
      if max(best.one, best.other) - min(best.one, best.other) < min(best.one, best.other) / 8 { return }
    }
    Issue.record("\(rounds)")
  }

  @Test(arguments: SignatureAlgorithm.allCases, [true, false])
  func `the refusal of an assertion takes as long for an existing client as for an unknown one`(
    algorithm: SignatureAlgorithm, isOfItsKind: Bool
  ) async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client, isOfItsKind ? .key : .body)
        let key = try SigningKey.generate(algorithm, rsaBits: 2048)
        let now = service.clock.now
        // Both assertions have the same length and are signed before the measurement.
        let there = try assertion(of: box.id, with: key, at: now)
        let nobody = try assertion(of: Random.uuid(), with: key, at: now)
        try await expectAlike(
          { _ = try await ask(client, assertion: there) }, { _ = try await ask(client, assertion: nobody) })
      }
    }
  }

  @Test(arguments: [OAuthBox.Way.body, .name, .key])
  func `the refusal of a secret takes as long for an existing client as for an unknown one`(way: OAuthBox.Way)
    async throws
  {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client, way)
        let (there, nobody) = (box.id, Random.uuid())
        try await expectAlike(
          { _ = try await ask(client, [("client_id", there), ("client_secret", "wrong")]) },
          { _ = try await ask(client, [("client_id", nobody), ("client_secret", "wrong")]) })
      }
    }
  }
}
