import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("Machine: configuring")
struct ConfiguringTests {
  @Test func `all services are asked at the same time and the fastest wins per provider`() {
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

  @Test func `calls before the completion are queued and run in order`() {
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
  func `a failure has its code, and calls run nevertheless`(
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

  @Test func `one service that fails is a warning when another answers`() {
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

  @Test func `a sign-in of elsewhere is fetched`() {
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
  func `a sign-out of elsewhere is taken over`(status: Int) {
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
  func `a service that is out of order signs nobody out`(failure: ServiceFailure) {
    var bench = Bench.signedIn()
    bench.setRequestor()
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.failed(failure))
    #expect(bench.machine.tokens.authentication != nil)
  }

  @Test func `the code on the screen survives an app that comes to the front again`() {
    var (bench, _) = Bench.waiting()
    let phase = bench.machine.phase
    let again = bench.setRequestor()
    #expect(bench.machine.phase == phase)
    #expect(bench.outcomes(of: again) == [.configured(Bench.configuration.providers)])
  }

  @Test func `another requestor ends what the first one had begun`() {
    var (bench, request) = Bench.waiting()
    bench.setRequestor("NEWS", tokens: RequestorTokens())
    #expect(bench.error(of: request)?.kind == .cancelled)
    #expect(bench.machine.requestor == "NEWS")
    #expect(bench.open.map(\.operation).contains(.configuration))
    // The code is given back in the name of its own requestor.
    let deletion = bench.sent.first { $0.operation == .deleteCode("BCDFGHJK") }
    #expect(deletion?.requestor == "SPORT")
  }

  @Test func `a first setRequestor that is overtaken hears so`() {
    var bench = Bench()
    let first = bench.setRequestor("ONE")
    let second = bench.setRequestor("TWO", tokens: RequestorTokens())
    #expect(bench.error(of: first)?.kind == .superseded)
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.missing)
    #expect(bench.outcomes(of: second).count == 1)
  }

  @Test func `no service at all is an error at once`() {
    var bench = Bench { $0.services = [] }
    let request = bench.setRequestor()
    #expect(bench.error(of: request)?.kind == .unreachable)
    #expect(bench.told.last == .setRequestorComplete(.error))
  }

  @Test func `a sign-out that a service has not heard of is told before anything is fetched`() {
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
  /// Everything but tracking data.
  var isNoTracking: Bool { if case .sendTrackingData = self { false } else { true } }
  /// Everything but tracking data and news.
  var isCallback: Bool {
    switch self {
    case .sendTrackingData, .status: false
    default: true
    }
  }
}
