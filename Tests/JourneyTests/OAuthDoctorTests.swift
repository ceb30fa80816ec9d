import HTTPTestSupport
import PairingService
import RegentCryptography
import ServiceTestSupport
import Testing

/// What an operator is told about clients of OAuth.
@Suite struct `doctor about OAuth` {
  @Test func `keys that sign for a year are named by doctor, with what to type`() async throws {
    let service = try await TestService()
    let admin = try AdminSocket(service.core)
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      _ = try await box.pair()
    }
    func old() async throws -> [String] {
      let said = try await admin.send("GET", "/v1/doctor").text
      return ["oauth tokens with ES256", "oauth tokens with RS256"].filter(said.contains)
    }
    #expect(try await old().isEmpty)
    service.clock.pass(.seconds(365 * 86_400))
    #expect(try await old() == ["oauth tokens with ES256"])
    #expect(
      try await admin.send("GET", "/v1/doctor").text.contains(
        "regentctl signing-key rotate --purpose oauth --algorithm ES256"))
    // The new one need not sign yet.
    _ = try await service.core.oauth.keys.rotate(.es256, audit: nil, at: service.clock.now)
    #expect(try await old().isEmpty)
  }
}
