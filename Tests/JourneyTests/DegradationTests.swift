import HTTPTestSupport
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Degradation of a provider` {
  private func withBox(_ body: (TestService, Box) async throws -> Void) async throws {
    let service = try await serving { $0.enhancedErrors = true }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      try await body(service, Box(service: service, client: client))
    }
  }

  /// The calls in which a device names a provider.
  @Test(arguments: ["authorize", "tokens/authn", "checkauthn", "preauthorize", "code", "preview"])
  func `the degradation authn-all signs in a device in each call that can name the provider`(way: String) async throws {
    try await withBox { service, box in
      try await service.integrate { $0.degradation = .authenticateEverybody }
      #expect(try await box.get("/api/v1/tokens/authn").status == 404)
      switch way {
      case "code": _ = try await box.code(["mvpd": Sample.provider])
      case "preview": #expect(try await box.preview(Sample.provider).status == 204)
      default:
        let answer = try await box.get(
          "/api/v1/\(way)", ["mvpd": Sample.provider, "resource": "anything"])
        #expect(answer.status == 200, "\(answer.text)")
      }
      let signedIn = try await box.get("/api/v1/tokens/authn")
      #expect(signedIn.status == 200 && signedIn["mvpd"] == Sample.provider)
      #expect(signedIn["userId"]?.hasPrefix("degraded_") == true)
      #expect(try await box.authorize("anything").status == 200)
      #expect(try await box.media("anything").status == 200)
      #expect(try await box.preauthorize("x,y") == ["x": "true", "y": "true"])
      #expect(try await box.get("/api/v1/tokens/authn")["userId"] == signedIn["userId"])
      // When the provider works again, the sign-in ends.
      try await service.integrate { $0.degradation = nil }
      #expect(try await box.authorize("anything").status == 403)
      #expect(try await box.media("anything").status == 403)
      #expect(try await box.get("/api/v1/tokens/authn").status == 403)
    }
  }

  @Test func `the degradation authn-all limits sign-ins of new devices of one address, not of known devices`()
    async throws
  {
    let service = try await TestService(options: {
      $0.limits.newcomers = RateLimit(perSecond: 1, burst: 3)
    })
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      try await service.integrate { $0.degradation = .authenticateEverybody }
      var box = Box(service: service, client: client)
      func ask(_ device: Int, _ way: String = "tokens/authn") async throws -> UInt16 {
        box.device = "ghost-\(device)"
        return try await box.get(
          "/api/v1/\(way)", ["mvpd": Sample.provider, "resource": "anything"]
        ).status
      }
      // Guests have five times the limit of other new devices, because all guests of a hotel share one address.
      for device in 1...15 { #expect(try await ask(device) == 200) }
      for way in ["tokens/authn", "checkauthn", "authorize", "preauthorize"] {
        #expect(try await ask(16, way) == 429)
        #expect(try await ask(1, way) == 200)
      }
      service.clock.pass(.seconds(1))
      #expect(try await ask(16) == 200)
      #expect(try await ask(17) == 429)
    }
  }

  @Test func `the degradation authn-all does not sign in a device that names another provider or none`() async throws {
    try await withBox { service, box in
      try await service.integrate { $0.degradation = .authenticateEverybody }
      for named in ["", Sample.pass, "nobody", "LOCAL"] {
        let answer = try await box.get(
          "/api/v1/authorize", ["mvpd": named, "resource": "anything"])
        #expect(answer.status == 403, "\(named)")
      }
      _ = try await box.code()
      #expect(try await box.get("/api/v1/tokens/authn").status == 404)
      for degradation in [Degradation.authorizeEverybody, .authorizeNobody, nil] {
        try await service.integrate { $0.degradation = degradation }
        let answer = try await box.get("/api/v1/tokens/authn", ["mvpd": Sample.provider])
        #expect(answer.status == 404)
        #expect(try await box.preview(Sample.provider).status == 400)
      }
    }
  }

  @Test func `the degradation authn-all replaces only expired sign-ins of accounts that are not disabled`() async throws
  {
    try await withBox { service, box in
      try await box.signIn()
      try await service.integrate { $0.degradation = .authenticateEverybody }
      let named: KeyValuePairs = ["mvpd": Sample.provider, "resource": "anything"]
      #expect(try await box.get("/api/v1/authorize", named).status == 200)
      let before = try await box.get("/api/v1/tokens/authn", named)
      #expect(before["userId"]?.hasPrefix("degraded_") == false)
      try await service.account { $0.isDisabled = true }
      #expect(try await box.get("/api/v1/authorize", named).status == 403)
      try await service.account { $0.isDisabled = false }
      service.clock.pass(.seconds(30 * 86_400))
      #expect(try await box.get("/api/v1/authorize", named).status == 200)
      let after = try await box.get("/api/v1/tokens/authn")
      #expect(after["userId"]?.hasPrefix("degraded_") == true)
    }
  }

  @Test func `the degradation authz-all allows signed-in devices every title, and authz-none allows none`() async throws
  {
    try await withBox { service, box in
      try await service.integrate { $0.degradation = .authorizeEverybody }
      #expect(try await box.authorize("anything").status == 403)
      try await box.signIn()
      #expect(try await box.authorize("anything").status == 200)
      #expect(try await box.media("anything").status == 200)
      #expect(try await box.preauthorize("x,news") == ["x": "true", "news": "true"])
      try await service.integrate { $0.degradation = .authorizeNobody }
      #expect(try await box.authorize("news")["code"] == "authorization_denied_by_degradation_rule")
      #expect(try await box.preauthorize("x,news") == ["x": "false", "news": "false"])
      #expect(try await box.media("anything").status == 403)
      try await service.integrate { $0.degradation = nil }
      #expect(try await box.media("anything").status == 403)
      #expect(try await box.authorize("news").status == 200)
    }
  }
}
