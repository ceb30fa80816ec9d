import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("State machine: setRequestor")
struct ConfiguringTests {
  @Test func `setRequestor asks all services at once and each provider is used at the service that answered first`() {
    var bench = Bench()
    let services = ["https://a.example", "https://b.example", "https://c.example"]
    let request = bench.setRequestor(services: services)
    #expect(bench.open.map(\.service) == services)
    let (a, b, c) = (bench.open[0], bench.open[1], bench.open[2])
    let shared = MVPD(id: "SHARED", displayName: "from b")
    bench.send(
      .answered(
        b.id, .configuration(ServiceConfiguration(providers: [shared], domains: []))))
    #expect(bench.told.isEmpty)
    var slower = shared
    slower.displayName = "from a"
    let own = MVPD(id: "OWN", displayName: "only a")
    bench.send(
      .answered(a.id, .configuration(ServiceConfiguration(providers: [slower, own], domains: []))))
    bench.send(.answered(c.id, .failed(.away)))
    // Two services are now asked whether this device is signed in.
    #expect(bench.open.map(\.service) == ["https://b.example", "https://a.example"])
    bench.answer(.missing)
    bench.answer(.missing)
    #expect(bench.told.last == .setRequestorComplete(.success))
    #expect(bench.outcomes(of: request) == [.configured([shared, own])])
    #expect(bench.machine.responders.map(\.service) == ["https://b.example", "https://a.example"])
    bench.forget()
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("OWN"))))
    #expect(bench.open.map(\.service) == ["https://a.example"])
    bench.call(.setSelectedProvider("SHARED"))
    #expect(bench.open.last?.service == "https://b.example")
  }

  @Test func `calls before setRequestor has finished are queued and run in order`() {
    var bench = Bench()
    bench.call(.getSelectedProvider)
    bench.call(.checkAuthentication)
    bench.setRequestor()
    bench.call(.checkAuthorization("r", data: [:]))
    #expect(bench.told.isEmpty)
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.missing)
    #expect(
      bench.told.filter(\.isNoTracking) == [
        .setRequestorComplete(.success), .selectedProvider(nil),
        .setAuthenticationStatus(.notAuthenticated, .userNotAuthenticated),
        .setAuthenticationStatus(.notAuthenticated, .userNotAuthenticated),
        .tokenRequestFailed(resource: "r", .userNotAuthenticated, description: ""),
      ])
  }

  @Test(
    arguments: [
      (
        ServiceFailure.status(400), StatusID.unknownRequestor,
        EntitlementError.Kind.unknownRequestor
      ),
      (.status(404), .unknownRequestor, .unknownRequestor),
      (.status(401), .notTrusted, .notTrusted),
      (.status(403), .notTrusted, .notTrusted), (.status(429), .configurationThrottled, .throttled),
      (.status(500), .configurationFailed(500), .service),
      (.status(503), .configurationFailed(503), .service),
      (.away, .unreachable, .unreachable),
      (ServiceFailure(kind: .unsafeConnection), .unsafeConnection, .unsafeConnection),
      (ServiceFailure(kind: .unreadable), .configurationFailed(500), .service),
      (ServiceFailure(kind: .captivePortal), .configurationFailed(500), .captivePortal),
      (ServiceFailure(kind: .clockWrong), .clockWrong, .clockWrong),
      (ServiceFailure(kind: .registration), .registrationFailed, .notTrusted),
      (ServiceFailure(kind: .accessToken), .accessTokenFailed, .notTrusted),
    ] as [(ServiceFailure, StatusID, EntitlementError.Kind)])
  func `a setRequestor that fails reports the status of its failure, and queued calls run nevertheless`(
    failure: ServiceFailure, status: StatusID, kind: EntitlementError.Kind
  ) {
    var bench = Bench()
    let request = bench.setRequestor()
    let check = bench.call(.checkAuthentication)
    bench.answer(.failed(failure))
    #expect(bench.statuses == [status])
    #expect(bench.error(of: request)?.kind == kind)
    #expect(bench.error(of: check)?.kind == .notAuthenticated)
    let told = bench.told.filter(\.isNoTracking)
    #expect(told.dropFirst().first == .setRequestorComplete(.error))
  }

  @Test func `a failed service is only a warning when another service answers`() {
    var bench = Bench()
    bench.setRequestor(services: ["https://a.example", "https://b.example"])
    bench.answer(.failed(.status(500)))
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.missing)
    guard case .status(let status)? = bench.told.first else {
      Issue.record("no status")
      return
    }
    #expect(status.id == .configurationFailed(500))
    #expect(status.level == .warning)
    #expect(bench.told.last == .setRequestorComplete(.success))
  }

  @Test func `setRequestor takes over a sign-in that was made on another device`() {
    var bench = Bench()
    bench.setRequestor()
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.granted)
    #expect(bench.told == [.setRequestorComplete(.success)])
    let check = bench.call(.checkAuthentication)
    guard case .signIn(let signIn)? = bench.outcomes(of: check).first else {
      Issue.record("not signed in")
      return
    }
    #expect(signIn.provider == Bench.cable)
  }

  @Test(arguments: [404, 410, 403, 412])
  func `setRequestor deletes a sign-in that has ended at the service`(status: Int) {
    var bench = Bench.signedIn()
    bench.setRequestor()
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.failed(.status(status)))
    #expect(bench.told == [.setRequestorComplete(.success)])
    #expect(bench.machine.tokens.authentication == nil)
  }

  @Test(
    arguments: [
      .away, .status(500), .status(503), .status(429), .status(401),
      ServiceFailure(kind: .unreadable), ServiceFailure(kind: .accessToken),
    ] as [ServiceFailure])
  func `a service error does not sign the viewer out`(failure: ServiceFailure) {
    var bench = Bench.signedIn()
    bench.setRequestor()
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.failed(failure))
    #expect(bench.machine.tokens.authentication != nil)
  }

  @Test func `a second setRequestor keeps the code on the screen`() {
    var (bench, _) = Bench.waiting()
    let phase = bench.machine.phase
    let again = bench.setRequestor()
    #expect(bench.machine.phase == phase)
    #expect(bench.outcomes(of: again) == [.configured(Bench.configuration.providers)])
  }

  @Test func `setRequestor for another requestor cancels the first one's sign-in and deletes its code`() {
    var (bench, request) = Bench.waiting()
    bench.setRequestor("NEWS", tokens: RequestorTokens())
    #expect(bench.error(of: request)?.kind == .cancelled)
    #expect(bench.machine.requestor == "NEWS")
    #expect(bench.open.map(\.operation).contains(.configuration))
    // The code is deleted in the name of the requestor that created it.
    let deletion = bench.sent.first { $0.operation == .deleteCode("BCDFGHJK") }
    #expect(deletion?.requestor == "SPORT")
  }

  @Test func `a first setRequestor that a second one replaces fails as superseded`() {
    var bench = Bench()
    let first = bench.setRequestor("ONE")
    let second = bench.setRequestor("TWO", tokens: RequestorTokens())
    #expect(bench.error(of: first)?.kind == .superseded)
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.missing)
    #expect(bench.outcomes(of: second).count == 1)
  }

  @Test func `an authorization continues while the app sets the same requestor again`() {
    var bench = Bench.signedIn()
    let play = bench.call(.getAuthorization("news", data: [:]))
    let again = bench.setRequestor()
    #expect(bench.outcomes(of: play).isEmpty)
    #expect(bench.open.map(\.operation).contains(.configuration))
    let other = bench.setRequestor("NEWS", tokens: RequestorTokens())
    #expect(bench.error(of: play)?.kind == .superseded && bench.error(of: again)?.kind == .superseded)
    #expect(bench.outcomes(of: other).isEmpty)
  }

  @Test func `setRequestor without any service fails at once`() {
    var bench = Bench { $0.services = [] }
    let request = bench.setRequestor()
    #expect(bench.error(of: request)?.kind == .unreachable)
    #expect(bench.told.last == .setRequestorComplete(.error))
  }

  @Test func `setRequestor sends a pending logout to the service before it fetches the sign-in`() {
    var tokens = RequestorTokens()
    tokens.unfinishedLogouts = [Bench.service]
    var bench = Bench()
    bench.setRequestor(tokens: tokens)
    bench.answer(.configuration(Bench.configuration))
    #expect(bench.open.map(\.operation) == [.logout])
    bench.answer(.done)
    #expect(bench.machine.tokens.unfinishedLogouts.isEmpty)
    #expect(bench.machine.tokens.authentication == nil)
    #expect(bench.told == [.setRequestorComplete(.success)])
  }
}

extension EntitlementEvent {
  /// Whether this is not tracking data.
  var isNoTracking: Bool { if case .sendTrackingData = self { false } else { true } }
  /// Whether this is neither tracking data nor a status.
  var isCallback: Bool {
    switch self {
    case .sendTrackingData, .status: false
    default: true
    }
  }
}
