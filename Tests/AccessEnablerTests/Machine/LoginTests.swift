import RegentPairing
import RegentPairingWire
import Testing

@testable import AccessEnabler

@Suite("State machine: signing in")
struct LoginTests {
  @Test func `a sign-in shows the picker, then the code, and ends when the phone approves`() {
    var bench = Bench.ready()
    let request = bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(bench.told == [.displayProviderDialog(Bench.configuration.providers)])
    bench.call(.setSelectedProvider("CABLE"))
    #expect(bench.open.map(\.operation) == [.createCode(provider: "CABLE")])
    bench.answer(.code(.offered))
    #expect(bench.statuses == [.registrationCode])
    // A provider in degraded mode may admit every viewer without a code.
    #expect(bench.open.map(\.operation) == [.authentication])
    bench.answer(.missing)
    #expect(bench.open.map(\.operation) == [.awaitCode("BCDFGHJK", after: 1)])
    bench.answer(.code(.record(.opened, 2)))
    #expect(bench.open.map(\.operation) == [.awaitCode("BCDFGHJK", after: 2)])
    bench.answer(.code(.record(.approved, 3)))
    #expect(bench.open.map(\.operation) == [.authentication])
    bench.answer(.granted)
    let told = bench.told.filter(\.isCallback)
    #expect(told.count == 4)
    #expect(told[2] == .phoneConnected(match: nil))
    #expect(told[3] == .setAuthenticationStatus(.authenticated, .userAuthenticated))
    #expect(bench.outcomes(of: request).count == 1)
    #expect(bench.machine.tokens.pending == nil)
    #expect(bench.machine.phase == .ready)
  }

  @Test func `tracking data has the documented order`() {
    var (bench, _) = Bench.waiting()
    bench.answer(.code(.record(.delivered, 2)))
    bench.answer(.granted)
    let tracked = bench.told.compactMap { event -> [String]? in
      if case .sendTrackingData(let data, _) = event { data } else { nil }
    }
    // MD5 of "user".
    let guid = "ee11cbb19052e40b07aac0ca060c23ee"
    #expect(
      tracked == [
        ["CABLE", "tv", "linux", "Linux 12"],
        ["true", "CABLE", guid, "false", "tv", "linux", "Linux 12"],
      ])
  }

  @Test func `getAuthentication reports a valid sign-in without a dialog unless forced`() {
    var bench = Bench.signedIn()
    let request = bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(
      bench.told.filter(\.isCallback) == [
        .setAuthenticationStatus(.authenticated, .userAuthenticated)
      ])
    #expect(bench.outcomes(of: request).count == 1)
    bench.forget()
    bench.call(.getAuthentication(AuthenticationRequest(isForced: true)))
    #expect(bench.told == [.displayProviderDialog(Bench.configuration.providers)])
  }

  @Test func `checkAuthentication never touches the network`() {
    var bench = Bench.signedIn()
    bench.call(.checkAuthentication)
    bench.now = bench.now + .seconds(86_400)
    bench.call(.checkAuthentication)
    #expect(bench.sent.isEmpty)
    #expect(
      bench.told.filter(\.isCallback) == [
        .setAuthenticationStatus(.authenticated, .userAuthenticated),
        .setAuthenticationStatus(.notAuthenticated, .userNotAuthenticated),
      ])
  }

  @Test func `setSelectedProvider nil cancels the sign-in and deletes the code`() {
    var (bench, request) = Bench.waiting()
    bench.forget()
    bench.call(.setSelectedProvider(nil))
    #expect(
      bench.told.filter(\.isCallback) == [
        .setAuthenticationStatus(.notAuthenticated, .providerNotSelected)
      ])
    #expect(bench.error(of: request)?.kind == .cancelled)
    #expect(bench.sent.map(\.operation) == [.deleteCode("BCDFGHJK")])
    #expect(bench.machine.phase == .ready)
    #expect(bench.machine.tokens.pending == nil)
  }

  @Test func `a cancelled sign-in produces no callback, not even when its code is approved`() {
    var (bench, request) = Bench.waiting()
    let waiting = bench.open[0]
    bench.forget()
    bench.send(.cancel(request))
    bench.send(.answered(waiting.id, .code(.record(.approved, 2))))
    #expect(bench.told.isEmpty)
    #expect(bench.outcomes(of: request).isEmpty)
    #expect(bench.actions.contains(.cancelCall(waiting.id)))
  }

  @Test func `when two calls wait for one sign-in, cancelling one does not affect the other`() {
    var (bench, first) = Bench.waiting()
    let second = bench.call(.getAuthentication(AuthenticationRequest()))
    bench.send(.cancel(first))
    bench.answer(.code(.record(.approved, 2)))
    bench.answer(.granted)
    #expect(bench.outcomes(of: first).isEmpty)
    #expect(bench.outcomes(of: second).count == 1)
  }

  @Test(
    arguments: [
      (ServiceAnswer.code(.record(.denied, 2)), EntitlementError.Kind.denied),
      (.failed(.status(403, details: ErrorDetails.denied)), .denied),
      (.code(.record(.expired, 2)), .codeExpired),
    ] as [(ServiceAnswer, EntitlementError.Kind)])
  func `a denied or expired code ends the sign-in with its reason`(
    answer: ServiceAnswer, kind: EntitlementError.Kind
  ) {
    var (bench, request) = Bench.waiting()
    bench.forget()
    bench.answer(answer)
    #expect(bench.error(of: request)?.kind == kind)
    #expect(bench.statuses == [.notAuthenticated])
    #expect(
      bench.told.filter(\.isCallback) == [
        .setAuthenticationStatus(.notAuthenticated, .genericAuthentication)
      ])
    #expect(bench.machine.tokens.pending == nil)
  }

  @Test func `the app is told the number to match when it first appears and when it changes`() {
    var (bench, _) = Bench.waiting()
    bench.forget()
    bench.answer(.code(.record(.opened, 2, match: 42)))
    bench.answer(.code(.record(.claimed, 3, match: 42)))
    bench.answer(.code(.record(.claimed, 4, match: 17)))
    #expect(
      bench.told.filter(\.isCallback) == [.phoneConnected(match: 42), .phoneConnected(match: 17)])
    #expect(bench.statuses == [.numberMatch, .numberMatch])
  }

  @Test func `retries after failures back off from 1 to 60 seconds, and the next answer resumes the sign-in`() {
    var (bench, request) = Bench.waiting()
    bench.forget()
    for failure in [
      ServiceFailure.away, .status(500), .status(503), ServiceFailure(kind: .unreadable),
    ] {
      bench.answer(.failed(failure))
      bench.ring()
    }
    let pauses = bench.actions.compactMap { action -> Duration? in
      if case .startTimer(_, let pause) = action { pause } else { nil }
    }
    #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    // The failures may be reported as a status; they cause no callback.
    #expect(bench.told.filter(\.isCallback).isEmpty)
    for _ in 0..<20 {
      bench.answer(.failed(.away))
      bench.ring()
    }
    guard case .waiting(_, _, let watch) = bench.machine.phase else {
      Issue.record("not waiting")
      return
    }
    #expect(watch.failures == 24)
    bench.answer(.failed(ServiceFailure(kind: .status(429), retryAfter: .seconds(3_600))))
    #expect(
      bench.actions.last.map { if case .startTimer(_, .seconds(60)) = $0 { true } else { false } }
        == true)
    bench.ring()
    bench.answer(.code(.record(.approved, 2)))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
  }

  @Test func `a busy service is reported once and retried after the time it asks for`() {
    var (bench, _) = Bench.waiting()
    bench.forget()
    for seconds in [7, 0, 30] {
      bench.answer(
        .failed(ServiceFailure(kind: .status(429), retryAfter: .seconds(seconds))))
      bench.ring()
    }
    bench.answer(.failed(.away))
    let pauses = bench.actions.compactMap { action -> Duration? in
      if case .startTimer(_, let pause) = action { pause } else { nil }
    }
    #expect(pauses == [.seconds(7), .seconds(1), .seconds(30), .seconds(8)])
    let told = bench.told.compactMap { event -> EntitlementStatus? in
      if case .status(let status) = event { status } else { nil }
    }
    #expect(told.map(\.id) == [.serviceBusy, .connectionLost])
    #expect(told.first?.extras["retryAfter"] == "7")
  }

  @Test func `a code that expires while the service is unreachable ends the sign-in`() {
    var (bench, request) = Bench.waiting()
    bench.answer(.failed(.away))
    bench.now = bench.now + .seconds(1_801)
    bench.ring()
    bench.answer(.failed(.away))
    #expect(bench.error(of: request)?.kind == .codeExpired)
  }

  @Test func `a service without long polling is polled every five seconds`() {
    var (bench, request) = Bench.waiting()
    // A service of another vendor: its code records have no status, no sequence number and no long poll.
    bench.forget()
    for _ in 0..<3 {
      bench.answer(.code(.record(.offered, 0, wasHeld: false)))
      #expect(bench.open.map(\.operation) == [.authentication])
      bench.answer(.missing)
      #expect(
        bench.actions.last.map { if case .startTimer(_, .seconds(5)) = $0 { true } else { false } }
          == true)
      bench.ring()
    }
    bench.answer(.code(.record(.offered, 0, wasHeld: false)))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
  }

  @Test func `a service that answers a long poll at once without a change is not asked in a loop`() {
    var (bench, _) = Bench.waiting()
    bench.answer(.code(.record(.offered, 1)))
    #expect(bench.open.isEmpty)
    guard case .waiting(_, _, let watch) = bench.machine.phase else {
      Issue.record("not waiting")
      return
    }
    #expect(watch.timer != nil)
  }

  @Test func `renewCode replaces the code, and the sign-in goes on with the new one`() {
    var (bench, request) = Bench.waiting()
    let old = bench.open[0]
    bench.forget()
    bench.call(.renewCode)
    #expect(bench.actions.contains(.cancelCall(old.id)))
    bench.answer(.code(.record(.offered, 1, code: "KJHGFDCB")))
    bench.answer(.missing)
    #expect(bench.machine.tokens.pending?.offer.code == "KJHGFDCB")
    bench.answer(.code(.record(.approved, 2, code: "KJHGFDCB")))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
  }

  @Test func `a code survives a restart and is checked at the service before it is shown again`() {
    let (before, _) = Bench.waiting()
    var bench = Bench.ready(tokens: before.machine.tokens)
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    #expect(bench.open.map(\.operation) == [.readCode("BCDFGHJK")])
    #expect(bench.statuses.isEmpty)
    bench.answer(.code(.record(.opened, 2)))
    #expect(bench.statuses == [.registrationCode, .phoneConnected])
    bench.answer(.missing)
    bench.answer(.code(.record(.approved, 3)))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
  }

  @Test(
    arguments: [
      ServiceAnswer.missing, .failed(.status(410)),
      .failed(.status(403, details: ErrorDetails.denied)),
      .code(.record(.denied, 2)), .code(.record(.expired, 2)), .code(.record(.withdrawn, 2)),
    ])
  func `a code that ended while the box was off is replaced before it is shown`(
    answer: ServiceAnswer
  ) {
    let (before, _) = Bench.waiting()
    var bench = Bench.ready(tokens: before.machine.tokens)
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(answer)
    #expect(bench.statuses.isEmpty)
    #expect(
      bench.open.map(\.operation) == [.createCode(provider: "CABLE", inPlaceOf: "BCDFGHJK")])
  }

  @Test func `a code is shown after a restart even when the service is unreachable`() {
    let (before, _) = Bench.waiting()
    var bench = Bench.ready(tokens: before.machine.tokens)
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.failed(.away))
    #expect(bench.statuses.first == .registrationCode)
    bench.ring()
    #expect(bench.open.map(\.operation) == [.readCode("BCDFGHJK")])
  }

  @Test func `a code for another provider is replaced after a restart`() {
    let (before, _) = Bench.waiting()
    var bench = Bench.ready(tokens: before.machine.tokens)
    bench.call(.getAuthentication(AuthenticationRequest(choice: .onSecondScreen)))
    #expect(bench.open.map(\.operation) == [.createCode(provider: nil, inPlaceOf: "BCDFGHJK")])
  }

  @Test func `a temporary pass signs the device in without a code`() {
    var bench = Bench.ready()
    let request = bench.call(
      .getAuthentication(
        AuthenticationRequest(data: ["email": "a@b.example"], choice: .provider("PASS"))))
    #expect(
      bench.open.map(\.operation) == [
        .freePreview(
          provider: "PASS", domain: "sport.example", data: ["email": "a@b.example"])
      ])
    bench.answer(.done)
    bench.answer(
      .authentication(
        GrantedAuthentication(
          provider: "PASS", userID: "temppass_1", expires: bench.now + .seconds(600),
          source: .regular)))
    #expect(bench.statuses == [.temporaryPass])
    #expect(bench.outcomes(of: request).count == 1)
    bench.forget()
    bench.now = bench.now + .seconds(600)
    bench.call(.checkAuthentication)
    #expect(bench.statuses == [.temporaryPassExpired])
  }

  @Test func `a temporary pass that has ended fails the sign-in as expired`() {
    var bench = Bench.ready()
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("PASS"))))
    bench.answer(.failed(.status(403)))
    #expect(bench.statuses == [.temporaryPassExpired])
    #expect(bench.error(of: request)?.kind == .temporaryPassExpired)
  }

  @Test func `a provider in degraded mode signs the viewer in without the code`() {
    var bench = Bench.ready()
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    var granted = GrantedAuthentication.regular
    granted.source = .degraded
    bench.answer(.authentication(granted))
    #expect(bench.statuses == [.registrationCode, .degradedAuthentication])
    #expect(bench.outcomes(of: request).count == 1)
    bench.forget()
    bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(.permit(PendingCallTests.permit))
    #expect(bench.statuses == [.degradedAuthorization])
  }

  @Test func `a sign-in with an unknown provider fails and names it`() {
    var bench = Bench.ready()
    let request = bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("NOBODY"))))
    #expect(bench.error(of: request)?.kind == .unknownProvider("NOBODY"))
    // The Kelvin sign (U+212A) is not the letter K, so that this id matches no provider.
    let kelvin = bench.call(
      .getAuthentication(AuthenticationRequest(choice: .provider("C\u{212A}"))))
    #expect(bench.outcomes(of: kelvin).count == 1)
  }

  @Test func `the picker lists the previously selected provider first`() {
    var tokens = RequestorTokens()
    tokens.selected = Bench.sheet
    var bench = Bench.ready(tokens: tokens)
    bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(bench.told == [.displayProviderDialog([Bench.sheet, Bench.cable, Bench.pass])])
  }

  @Test func `selecting another provider while signed in begins a change of provider`() {
    var bench = Bench.signedIn()
    bench.call(.setSelectedProvider("PASS"))
    bench.forget()
    let request = bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(bench.outcomes(of: request).isEmpty, "the other provider's sign-in must not answer this call")
    #expect(bench.sent.count == 1)
    // Until the change succeeds, the earlier sign-in stays valid.
    #expect(bench.machine.validAuthentication?.signIn.provider.id == "CABLE")
    bench.call(.setSelectedProvider(nil))
    #expect(bench.error(of: request) != nil)
    #expect(bench.machine.validAuthentication?.signIn.provider.id == "CABLE")
    // Selecting the provider of the current sign-in is no change.
    bench.call(.setSelectedProvider("CABLE"))
    let again = bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(bench.error(of: again) == nil && bench.outcomes(of: again).count == 1)
  }
}
