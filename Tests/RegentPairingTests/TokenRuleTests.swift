import RegentPairing
import Testing

@Suite struct `Authentications and permits` {
  private func authentication() throws -> Authentication {
    let scene = try Scene()
    return Authentication(
      id: scene.first, requestor: try name("REF30"), viewer: scene.ann.viewer, household: nil,
      profile: nil, source: .regular, issued: at(0), expires: at(1000))
  }

  @Test func `an authentication is checked against its expiry, account, integration and key every time`() throws {
    let authentication = try authentication()
    #expect(authentication.isValid(at: at(999)) && !authentication.isValid(at: at(1000)))
    try AuthenticationValidity(account: .good, integrated: true, keyHonoured: true).check()
    let table: [(AuthenticationValidity, AuthenticationRefusal)] = [
      (AuthenticationValidity(account: .disabled, integrated: true, keyHonoured: true), .accountDisabled),
      (AuthenticationValidity(account: .gone, integrated: true, keyHonoured: true), .accountGone),
      (AuthenticationValidity(account: .good, integrated: false, keyHonoured: true), .notIntegrated),
      (AuthenticationValidity(account: .good, integrated: true, keyHonoured: false), .keyRevoked),
      (
        AuthenticationValidity(account: .disabled, integrated: true, switchedOff: true, keyHonoured: true), .switchedOff
      ),
      (AuthenticationValidity(account: .gone, integrated: true, switchedOff: true, keyHonoured: true), .accountGone),
    ]
    for (standing, refusal) in table {
      #expect(throws: refusal) { try standing.check() }
    }
    #expect(table.map(\.1).filter(\.isPause) == [.accountDisabled, .switchedOff])
  }

  @Test func `a permit never outlives its authentication`() throws {
    let authentication = try authentication()
    let resource = try name("ESPN") as ResourceID
    let short = Permit(resource, for: authentication, lifetime: .seconds(60), at: at(10))
    #expect(short.expires == at(70))
    #expect(short.isValid(at: at(69)) && !short.isValid(at: at(70)))
    let long = Permit(resource, for: authentication, lifetime: .seconds(5000), at: at(10))
    #expect(long.expires == at(1000))
  }

  @Test func `a permit is written again only in the last tenth of its lifetime`() throws {
    let permit = Permit(
      try name("ESPN"), for: try authentication(), lifetime: .seconds(100), at: at(0))
    #expect(Permit.isWorthWriting(over: nil, at: at(0)))
    #expect(!Permit.isWorthWriting(over: permit, at: at(1)))
    #expect(!Permit.isWorthWriting(over: permit, at: at(90)))
    #expect(Permit.isWorthWriting(over: permit, at: at(91)))
    #expect(Permit.isWorthWriting(over: permit, at: at(100)))
  }
}

@Suite struct `Temporary passes` {
  private let hour = TemporaryPassRules(duration: .seconds(3600))
  private let promotion = TemporaryPassRules(
    duration: .seconds(3600), resourceLimit: 2, promotional: true)

  @Test func `a temporary pass runs from its first authorization, whatever is watched`() throws {
    let unused = TemporaryPassUse()
    #expect(hour.expires(unused, at: at(500)) == at(4100))
    let used = try hour.opening(try name("A"), unused, at: at(100))
    #expect(used.started == at(100))
    #expect(hour.expires(used, at: at(3000)) == at(3700))
    let again = try hour.opening(try name("B"), used, at: at(3699))
    #expect(again.started == at(100))
    #expect(throws: TemporaryPassRefusal.durationExceeded) {
      try hour.opening(try name("A"), again, at: at(3700))
    }
    #expect(throws: TemporaryPassRefusal.durationExceeded) {
      try hour.admit(again, identified: true, at: at(3700))
    }
  }

  @Test func `a temporary pass counts distinct resources, and those already counted stay allowed`() throws {
    var use = try promotion.opening(try name("A"), TemporaryPassUse(), at: at(0))
    use = try promotion.opening(try name("A"), use, at: at(1))
    #expect(promotion.remainingResources(use) == 1)
    use = try promotion.opening(try name("B"), use, at: at(2))
    #expect(throws: TemporaryPassRefusal.resourcesExceeded) {
      try promotion.opening(try name("C"), use, at: at(3))
    }
    _ = try promotion.opening(try name("B"), use, at: at(4))
    #expect(promotion.remainingResources(use) == 0)
    #expect(hour.remainingResources(use) == nil)
  }

  @Test func `a promotional pass requires an identity`() throws {
    #expect(throws: TemporaryPassRefusal.identityMissing) {
      try promotion.admit(TemporaryPassUse(), identified: false, at: at(0))
    }
    try promotion.admit(TemporaryPassUse(), identified: true, at: at(0))
    try hour.admit(TemporaryPassUse(), identified: false, at: at(0))
  }

  @Test func `a temporary pass combines what the device and the e-mail address have used`() throws {
    let device = TemporaryPassUse(started: at(50), resources: [try name("A")])
    let identity = TemporaryPassUse(started: at(20), resources: [try name("B")])
    let joined = device.joined(with: identity)
    #expect(joined.started == at(20))
    #expect(joined.resources.count == 2)
    #expect(TemporaryPassUse().joined(with: device) == device)
    #expect(identity.joined(with: TemporaryPassUse()) == identity)
  }

  @Test func `a temporary pass without a resource limit counts no resources`() throws {
    let use = try hour.opening(try name("A"), TemporaryPassUse(), at: at(0))
    #expect(use.resources.isEmpty)
  }
}

@Suite struct Integrations {
  @Test func `an application profile overrides the settings it names, and an unknown profile none`() throws {
    let long = try name("long") as ProfileName
    let integration = Integration(
      requestor: try name("R"), provider: try name("P"),
      profiles: [long: IntegrationProfile(authenticationLifetime: .seconds(5))])
    #expect(integration.settings(for: nil).authenticationLifetime == .seconds(2_592_000))
    #expect(integration.settings(for: long).authenticationLifetime == .seconds(5))
    #expect(integration.settings(for: long).authorizationLifetime == .seconds(86_400))
    #expect(integration.settings(for: try name("other")) == integration.settings)
  }
}
