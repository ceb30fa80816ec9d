import HTTPTestSupport
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Authorization and permits` {
  /// One reason for a denial: how a test brings it about, and the response that the client must get.
  struct Denial: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let status: UInt16
    let message: String
    let details: String?
    let code: EnhancedCode
    var resource = "news"
    let bring: @Sendable (TestService, Box) async throws -> Void

    init(
      _ what: String, _ code: EnhancedCode, details: String? = nil,
      status: UInt16 = 403, message: String = "User not authorized", resource: String = "news",
      bring: @escaping @Sendable (TestService, Box) async throws -> Void = { _, _ in }
    ) {
      testDescription = what
      self.status = status
      self.message = message
      self.details = details
      self.code = code
      self.resource = resource
      self.bring = bring
    }

    static let fragment =
      #"<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>news</title>"#
      + #"<item><media:rating scheme="urn:mpaa">R</media:rating></item></channel></rss>"#

    private static let nobody = "User not Authenticated"

    static let all = [
      Denial("no rule allows it", .authorizationDeniedByProvider, resource: "movies"),
      Denial(
        "the provider says why", .authorizationDeniedByProvider, details: "Not in your package"
      ) { service, _ in
        try await service.entitle("new*", .deny(message: "Not in your package"))
      },
      Denial(
        "rated above the account's maximum", .authorizationDeniedByParentalControls,
        details: "rated above what this account may see", resource: fragment),
      Denial(
        "the operator blocks every title", .authorizationDeniedByDegradationRule,
        details: "nothing can be watched at the moment"
      ) { service, _ in
        try await service.integrate { $0.degradation = .authorizeNobody }
      },
      Denial("signed out", .authenticationSessionMissing, message: nobody) { _, box in
        _ = try await box.send("DELETE", "/api/v1/logout")
      },
      Denial(
        "the account was disabled", .authenticationSessionInvalidated,
        details: "the account is disabled at the provider: signing in again will not help", message: nobody
      ) { service, _ in
        try await service.account { $0.isDisabled = true }
      },
      Denial("the account was removed", .authenticationSessionMissing, message: nobody) {
        service, _ in
        try await service.remove(.account(try named(Sample.provider), try named(Sample.account)))
      },
      Denial(
        "the integration was switched off", .authenticationSessionInvalidated,
        details: "this app may not use this provider: the integration is off or was removed", message: nobody
      ) { service, _ in
        try await service.integrate { $0.enabled = false }
      },
      Denial(
        "the sign-in has run out", .authenticationSessionExpired,
        details: "the sign-in has expired: sign in again", message: nobody
      ) { service, _ in
        service.clock.pass(.seconds(30 * 86_400))
      },
      Denial("the rows' key was revoked", .authenticationSessionMissing, message: nobody) {
        service, _ in
        try await service.core.store.setState(
          of: try named("rowsOfREF30"), to: .revoked, audit: nil, at: service.clock.now)
      },
      Denial(
        "no resource", .missingResource, status: 400,
        message: "Required 'resource' is not present", resource: ""),
      Denial(
        "a broken fragment", .malformedAuthorizationRequest,
        details: "not well-formed XML at line 1, column 6: no element found", status: 400,
        message: "Bad Request", resource: "<rss>"),
    ]
  }

  @Test(arguments: Denial.all, [WireFormat.json, .xml])
  func `each reason for a denial has its own response`(denial: Denial, format: WireFormat) async throws {
    for enhanced in [false, true] {
      let service = try await serving { $0.enhancedErrors = enhanced }
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let box = Box(service: service, client: client, format: format)
        try await box.signIn()
        try await denial.bring(service, box)
        let answer = try await box.authorize(denial.resource)
        #expect(answer.status == denial.status, "\(answer.text)")
        #expect(answer["status"] == String(denial.status))
        #expect(answer["message"] == denial.message)
        if denial.details != nil || denial.status == 403 {
          #expect(answer["details"] == denial.details)
        }
        guard enhanced else {
          #expect(!answer.has("code") && !answer.has("action"))
          return
        }
        #expect(answer["code"] == denial.code.rawValue)
        #expect(answer["action"] == denial.code.action.rawValue)
        #expect(denial.code.statuses.contains(Int(answer.status)))
        #expect(answer["helpUrl"] == "https://tv.example.org/openapi.json")
        #expect(answer["trace"]?.utf8.count == 36)
      }
    }
  }

  @Test(arguments: Denial.all)
  func `no media token is issued after the reason for a permit has gone`(denial: Denial) async throws {
    let service = try await serving { $0.enhancedErrors = true }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await box.signIn()
      let isPermitted = try await box.authorize(denial.resource).status == 200
      try await denial.bring(service, box)
      let token = try await box.media(denial.resource)
      #expect(token.status == denial.status, "\(token.text)")
      if isPermitted { #expect(token["code"] == denial.code.rawValue) }
    }
  }

  @Test func `a key that is revoked between two calls ends the next call with 401`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await box.signIn()
      try await service.core.store.setState(
        of: try named(Sample.publicKey), to: .revoked, audit: nil, at: service.clock.now)
      try await service.core.refreshProvisioning()
      #expect(try await box.authorize("news").status == 401)
    }
  }

  @Test func `every denial is counted, and one a minute is written to the audit log`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await box.signIn()
      for title in ["a", "b", "c"] { #expect(try await box.authorize(title).status == 403) }
      #expect(try await box.authorize("news").status == 200)
      #expect(service.core.metrics.now[.authorizationsDenied] == 3)
      #expect(service.core.metrics.now[.authorizationsGranted] == 1)
      try await service.auditIsWritten()
      service.clock.pass(.seconds(61))
      #expect(try await box.authorize("d").status == 403)
      try await service.auditIsWritten()
      let lines = try await service.audit("authorization.deny")
      #expect(lines.map(\.detail) == ["a", "d"].map { "\"\($0)\": authorization_denied_by_mvpd" })
      #expect(lines.allSatisfy { $0.outcome == .refused && !$0.subject.contains("box-1") })
      // The line shows the device by the short name that `device list` prints.
      let device = service.core.hasher.device(try #require(DeviceID("box-1"))).shortName
      #expect(lines.allSatisfy { $0.subject == device })
      guard case .viewer(let viewer) = lines[0].actor else { return #expect(Bool(false)) }
      #expect(viewer.account?.text == Sample.account)
    }
  }

  // MARK: - Permits

  @Test(arguments: [WireFormat.json, .xml])
  func `a permit can be looked up, expires, and can be granted again`(format: WireFormat) async throws {
    let service = try await serving { $0.enhancedErrors = true }
    try await service.integrate { $0.settings.authorizationLifetime = .seconds(3600) }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client, format: format)
      func look(_ resource: String) async throws -> Reply {
        try await box.get("/api/v1/tokens/authz", ["resource": resource])
      }
      let missing = try await look("news")
      #expect(missing.status == 412 && missing["code"] == "authentication_session_missing")
      try await box.signIn()
      let none = try await look("news")
      #expect(none.status == 404 && none["code"] == "authorization_not_found")
      #expect(none["message"] == "Not Found")
      let first = try await box.authorize("news")
      #expect(try await look("news").text == first.text)
      // A permit with much of its lifetime left is not renewed.
      service.clock.pass(.seconds(1800))
      #expect(try await box.authorize("news").text == first.text)
      service.clock.pass(.seconds(1500))
      let renewed = try await box.authorize("news")
      #expect(renewed["expires"] != first["expires"])
      service.clock.pass(.seconds(3600))
      let gone = try await look("news")
      #expect(gone.status == 410 && gone["code"] == "authorization_expired")
      #expect(gone["message"] == "Gone")
      let token = try await box.media("news")
      #expect(token.status == 403 && token["code"] == "authorization_not_found")
      await Upkeep(service.core).once()
      #expect(try await look("news").status == 410)
      service.clock.pass(.seconds(600))
      await Upkeep(service.core).once()
      #expect(try await look("news").status == 404)
      #expect(try await box.authorize("news").status == 200)
    }
  }

  @Test func `a permit never outlives its sign-in`() async throws {
    let service = try await TestService()
    try await service.integrate { $0.settings.authenticationLifetime = .seconds(100) }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await box.signIn()
      let end = try await box.get("/api/v1/tokens/authn")["expires"]
      #expect(try await box.authorize("news")["expires"] == end)
      #expect(try await box.authorize("news").status == 200)
    }
  }

  @Test func `a title that an operator denies is refused although a permit was granted before`() async throws {
    let service = try await serving { $0.enhancedErrors = true }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await box.signIn()
      #expect(try await box.authorize("news").status == 200)
      try await service.entitle("news", .deny(message: "sold out"))
      #expect(try await box.authorize("news")["details"] == "sold out")
      let token = try await box.media("news")
      #expect(token.status == 403 && token["details"] == "sold out")
      let permit = try await box.get("/api/v1/tokens/authz", ["resource": "news"])
      #expect(permit.status == 404 && permit["details"] == "sold out")
      #expect(try await box.preauthorize("news,sports") == ["news": "false", "sports": "true"])
    }
  }

  // MARK: - Rules

  @Test func `rules apply by account, household and provider, and a line-up allows its titles`() async throws {
    let service = try await TestService()
    let store = service.core.store
    let rules: [(String, EntitlementScope, EntitlementEffect)] = [
      ("ppv-*", .everybody, .deny(message: nil)),
      ("ppv-7", .household(try named("house-1")), .allow),
      ("ppv-8", .household(try named("house-2")), .allow),
      ("movies", .account(try named(Sample.account)), .allow),
      ("series", .account(try named("somebody-else")), .allow),
      ("SPORTS", .everybody, .deny(message: nil)),
    ]
    for (number, rule) in rules.enumerated() {
      try await service.change(
        .entitlement(
          Entitlement(
            id: try named("rule-\(number)"), provider: try named(Sample.provider), scope: rule.1,
            pattern: try #require(ResourcePattern(rule.0)), effect: rule.2)))
    }
    #expect(try await store.provisioning().entitlements.values.joined().count == rules.count)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await service.integrate { $0.settings.preauthorizationLimit = 20 }
      try await box.signIn()
      let expected = [
        "ppv-1": false, "ppv-7": true, "ppv-8": false, "movies": true, "series": false,
        "news": true, "sports": false, "News": true,
      ]
      let answers = try await box.preauthorize(expected.keys.sorted().joined(separator: ","))
      #expect(answers == expected.mapValues { "\($0)" })
      for (resource, isAllowed) in expected {
        #expect(try await box.authorize(resource).status == (isAllowed ? 200 : 403), "\(resource)")
      }
    }
  }

  @Test func `a profile sets the lifetime of permits and the limit of preauthorization`()
    async throws
  {
    let service = try await TestService()
    let kiosk: ProfileName = try named("kiosk")
    try await service.integrate {
      $0.profiles[kiosk] = IntegrationProfile(
        authorizationLifetime: .seconds(60), preauthorizationLimit: 1)
    }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await service.approve(try await box.code(["applicationProfile": "kiosk"]))
      let permit = try await box.authorize("news")
      #expect(permit["expires"] == String((service.clock.now + .seconds(60)).milliseconds))
      #expect(
        try await box.get("/api/v1/preauthorize", ["resource": "news,sports"]).status == 403)
      // A call may name a profile of its own. An unknown profile changes nothing.
      var other = box
      other.device = "box-2"
      try await other.signIn()
      let day = String((service.clock.now + .seconds(86_400)).milliseconds)
      let odd = try await other.get(
        "/api/v1/authorize", ["resource": "sports", "applicationProfile": "odd"])
      #expect(odd["expires"] == day)
      let short = try await other.get(
        "/api/v1/authorize", ["resource": "news", "applicationProfile": "kiosk"])
      #expect(short["expires"] == permit["expires"])
    }
  }
}
