import HTTPTestSupport
import PairingStore
import PairingService
import RegentCryptography
import RegentPairing
import ServiceTestSupport
import Testing

/// What doctor and the lists tell an operator about OAuth clients.
@Suite struct `Findings of doctor about OAuth` {
  @Test func `doctor names signing keys that are a year old and the command to rotate them`() async throws {
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
    // The new key counts although it does not sign yet.
    _ = try await service.core.oauth.keys.rotate(.es256, audit: nil, at: service.clock.now)
    #expect(try await old().isEmpty)
  }

  @Test func `doctor names a client that never paired, but not one of an API that only introspects`() async throws {
    let service = try await TestService()
    let admin = try AdminSocket(service.core)
    try await withOAuth(service) { client in
      let paired = try await OAuthBox(service, client, name: "Paired")
      let tokens = try await paired.pair()
      for (name, way, origin): (String, OAuthBox.Way, OAuthClientRecord.Origin) in [
        ("Never", .name, .operator), ("API", .basic, .operator), ("Stranger", .basic, .itself),
      ] { _ = try await OAuthBox(service, client, way, name: name, origin: origin) }
      // The client has paired once. That it is not paired now is no reason to remove it.
      #expect(try await paired.post("revoke", [("token", tokens.access)]).status == 200)
      service.clock.pass(.seconds(31 * 86_400))
      let said = try await admin.send("GET", "/v1/doctor").text
      let named = ["Never", "API", "Stranger", "Paired"].filter { said.contains("signed in with \\\"\($0)\\\"") }
      #expect(named == ["Never", "Stranger"])
    }
  }

  @Test func `doctor says that number matching keeps OAuth clients from getting codes`() async throws {
    let service = try await TestService(options: { _ in }) { $0.numberMatching = true }
    let admin = try AdminSocket(service.core)
    try await withOAuth(service) { client in
      #expect(try await !admin.send("GET", "/v1/doctor").text.contains("OAuth clients of this requestor cannot"))
      let box = try await OAuthBox(service, client)
      #expect(try await box.post("device_authorization", []).error == "unauthorized_client")
      #expect(try await admin.send("GET", "/v1/doctor").text.contains("--number-matching off"))
    }
  }

  @Test func `the list of grants names the account of each and which grants are paused`() async throws {
    let service = try await TestService()
    let admin = try AdminSocket(service.core)
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      _ = try await box.pair()
      func listed() async throws -> String { try await admin.send("GET", "/v1/grants").text }
      let good = try await listed()
      #expect(good.contains(#""state":"good""#) && good.contains(#""name":"Kodi""#), "\(good)")
      #expect(
        good.contains("\(Sample.provider)/\(Sample.account)") || good.contains("\(Sample.provider)\\/"), "\(good)")
      try await service.disable(Sample.account)
      // A paused grant still names its account, because operators look up paused grants most.
      let paused = try await listed()
      #expect(paused == good.replacing(#""state":"good""#, with: #""state":"paused""#), "\(paused)")
      let id = ProvisionID.integration(try named(Sample.requestor), try named(Sample.provider))
      _ = try await service.core.store.remove(id, audit: nil, at: service.clock.now)
      #expect(try await !listed().contains("Kodi"))
    }
  }
}
