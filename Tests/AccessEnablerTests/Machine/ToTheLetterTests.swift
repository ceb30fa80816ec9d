import RegentPairing
import RegentPairingWire
import Testing

@testable import AccessEnabler

/// Sentences of the original API that this implementation once broke.
@Suite("State machine: conformance with the original API")
struct ToTheLetterTests {
  static let notSignedIn = EntitlementEvent.setAuthenticationStatus(
    .notAuthenticated, .userNotAuthenticated)

  // MARK: Selecting a provider before signing in

  @Test func `a provider selected before getAuthentication replaces the picker once`() {
    var bench = Bench.ready()
    bench.call(.setSelectedProvider("CABLE"))
    #expect(bench.told.filter(\.isCallback).isEmpty && bench.statuses.isEmpty && bench.sent.isEmpty)
    let asked = bench.call(.getSelectedProvider)
    #expect(bench.outcomes(of: asked) == [.selected(Bench.cable)])
    bench.forget()
    bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(bench.open.map(\.operation) == [.createCode(provider: "CABLE")])
    bench.answer(.failed(.status(500)))
    #expect(!bench.told.contains(.displayProviderDialog(Bench.configuration.providers)))
    // After a failure the picker is shown again.
    bench.forget()
    bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(bench.told == [.displayProviderDialog(Bench.configuration.providers)])
  }

  @Test func `selecting a temporary pass signs in at once, a promotional pass waits for its data`() {
    var bench = Bench.ready()
    bench.call(.setSelectedProvider("PASS"))
    #expect(bench.open.map(\.operation) == [.freePreview(provider: "PASS", domain: "sport.example", data: [:])])
    let promotion = MVPD(id: "PROMO", displayName: "P", isTemporaryPass: true, wantsIdentity: true)
    bench = Bench()
    bench.setRequestor()
    bench.answer(.configuration(ServiceConfiguration(providers: [promotion], domains: [])))
    bench.answer(.missing)
    bench.call(.setSelectedProvider("PROMO"))
    #expect(bench.open.isEmpty)
    let data = ["email": "a@b.example"]
    bench.call(.getAuthentication(AuthenticationRequest(data: data)))
    #expect(bench.open.map(\.operation) == [.freePreview(provider: "PROMO", domain: nil, data: data)])
  }

  @Test func `setSelectedProvider does not sign out a viewer who is signed in`() {
    var bench = Bench.signedIn()
    for choice in ["SHEET", "PASS", "NOBODY"] {
      bench.call(.setSelectedProvider(choice))
      #expect(bench.told.filter(\.isCallback).isEmpty, "\(choice)")
    }
    let check = bench.call(.checkAuthentication)
    guard case .signIn? = bench.outcomes(of: check).first else {
      Issue.record("signed out by a choice")
      return
    }
    bench.call(.setSelectedProvider("SHEET"))
    let asked = bench.call(.getSelectedProvider)
    #expect(bench.outcomes(of: asked) == [.selected(Bench.sheet)])
  }

  @Test func `setSelectedProvider nil clears the selection, and a cancelled picker is reported once`() {
    var bench = Bench.ready()
    bench.call(.getAuthentication(AuthenticationRequest()))
    bench.call(.setSelectedProvider(nil))
    bench.call(.setSelectedProvider(nil))
    #expect(bench.statuses == [.pickerCancelled])
    bench = Bench.signedIn()
    bench.call(.setSelectedProvider(nil))
    let asked = bench.call(.getSelectedProvider)
    #expect(bench.outcomes(of: asked) == [.selected(nil)])
  }

  @Test func `setSelectedProvider with an unknown provider fails and is reported`() {
    var bench = Bench.ready()
    let unknown = bench.call(.setSelectedProvider("NOBODY"))
    #expect(bench.error(of: unknown)?.kind == .unknownProvider("NOBODY"))
    #expect(bench.told.contains(.setAuthenticationStatus(.notAuthenticated, .genericAuthentication)))
  }

  // MARK: The same code

  @Test func `the same selection after a restart shows the same code`() {
    let (before, _) = Bench.waiting()
    var bench = Bench.ready(tokens: before.machine.tokens)
    bench.call(.getAuthentication(AuthenticationRequest()))
    bench.call(.setSelectedProvider("CABLE"))
    #expect(bench.open.map(\.operation) == [.readCode("BCDFGHJK")])
    bench.answer(.code(.record(.offered, 1)))
    #expect(bench.told.contains { if case .registrationCode = $0 { true } else { false } })
    #expect(bench.sent.allSatisfy { $0.operation != .deleteCode("BCDFGHJK") })
  }

  @Test func `selecting the same provider twice shows the same code twice`() {
    var (bench, _) = Bench.waiting()
    bench.forget()
    bench.call(.setSelectedProvider("CABLE"))
    #expect(bench.statuses == [.registrationCode])
    #expect(bench.sent.isEmpty)
    bench.call(.setSelectedProvider("SHEET"))
    #expect(
      bench.sent.map(\.operation) == [.deleteCode("BCDFGHJK"), .createCode(provider: "SHEET")])
  }

  // MARK: Callbacks

  @Test func `checkAuthorization reports not authenticated also when only the service knows it`() {
    var bench = Bench.signedIn()
    bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(
      .failed(ServiceFailure(kind: .status(403), message: ErrorMessage.notAuthenticated)))
    #expect(bench.told.filter(\.isCallback).first == Self.notSignedIn)
    #expect(bench.told.filter(\.isCallback).count == 2)
  }

  @Test func `a failed sign-in for an authorization sends tracking data for both`() {
    var bench = Bench.ready()
    bench.call(.getAuthorization("r", data: [:]))
    bench.call(.setSelectedProvider(nil))
    let tracked = bench.told.compactMap { event -> String? in
      if case .sendTrackingData(_, let name) = event { name.name } else { nil }
    }
    #expect(tracked == ["TRACKING_AUTHENTICATION", "TRACKING_AUTHORIZATION"])
  }

  @Test(
    arguments: [
      (ServiceFailure.away, "cannot be reached"), (.status(500), "the service failed"),
      (.status(429), "busy"), (ServiceFailure(kind: .captivePortal), "this network"),
      (ServiceFailure(kind: .clockWrong), "clock"),
    ] as [(ServiceFailure, String)])
  func `tokenRequestFailed names the kind of failure in its text`(failure: ServiceFailure, words: String) {
    var bench = Bench.signedIn()
    bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(.failed(failure))
    let text = bench.told.compactMap { event -> String? in
      if case .tokenRequestFailed(_, _, let text) = event { text } else { nil }
    }
    #expect(text.count == 1 && text[0].contains(words), "\(text)")
  }

  @Test func `every status has a sentence as its message`() {
    for id in [StatusID.preauthorizationFailed, .malformedResource, .degradedDenial, .deniedRepeatedly] {
      #expect(id.sentence.count > 20)
    }
    var bench = Bench.signedIn()
    bench.call(.checkAuthorization("", data: [:]))
    guard case .status(let status)? = bench.told.first else {
      Issue.record("no news")
      return
    }
    #expect(status.message == "the resource is not well formed")
  }

  @Test func `lists inside metadata maps stay lists, and names keep their case`() throws {
    let text = #"{"updated":1,"data":{"maxRating":{"MPAA":"PG","URL":"http://x","ages":["6","12"]}}}"#
    let document = try UserMetadataDocument(json: Array(text.utf8))
    let value = try #require(document.attributes.first.map { MetadataValue($0.value) })
    #expect(
      value
        == .structure([
          "MPAA": .text("PG"), "URL": .text("http://x"), "ages": .list(["6", "12"]),
        ]))
    // The service itself lists a scheme's name as the operator typed it.
    #expect(RatingScheme("URL").name == "URL")
  }

  // MARK: Services

  @Test func `every later call reports that the app's secret is wrong`() {
    var bench = Bench()
    bench.setRequestor()
    bench.answer(.failed(.status(401)))
    for call in [
      AppCall.getAuthentication(AuthenticationRequest()), .setSelectedProvider("CABLE"),
      .getAuthorization("r", data: [:]),
    ] {
      let request = bench.call(call)
      #expect(bench.error(of: request)?.kind == .notTrusted)
      #expect(bench.error(of: request)?.status == .notTrusted)
    }
  }

  @Test func `setRequestor continues without a slow service two seconds after another service has answered`() throws {
    var bench = Bench()
    let request = bench.setRequestor(services: ["https://a.example", "https://b.example"])
    bench.answer(.configuration(Bench.configuration))
    let deadline = try #require(bench.deadlines.last)
    #expect(deadline.time == .seconds(2))
    bench.send(.timer(deadline.timer))
    #expect(bench.open.map(\.service) == ["https://a.example"])
    #expect(bench.open.map(\.operation) == [.authentication])
    bench.answer(.missing)
    #expect(bench.outcomes(of: request) == [.configured(Bench.configuration.providers)])
    #expect(bench.statuses == [.unreachable])
  }

  @Test func `setRequestor waits at most two seconds in all for slow services, in both of its steps`() throws {
    var bench = Bench()
    let request = bench.setRequestor(services: ["https://a.example", "https://b.example"])
    bench.answer(.configuration(Bench.configuration))
    bench.now = bench.now + .milliseconds(1_500)
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.missing)
    let deadline = try #require(bench.deadlines.last)
    #expect(deadline.time == .milliseconds(500))
    bench.send(.timer(deadline.timer))
    #expect(bench.outcomes(of: request).count == 1)
    #expect(bench.open.isEmpty)
  }

  @Test func `a sign-in moves with a service to its new address`() {
    var tokens = Bench.signedIn().machine.tokens
    tokens.unfinishedLogouts = []
    var bench = Bench { $0.services = ["https://new.example"] }
    bench.setRequestor(tokens: tokens)
    bench.answer(.configuration(Bench.configuration))
    #expect(bench.open.map(\.operation) == [.authentication])
    bench.answer(.granted)
    #expect(bench.machine.tokens.authentication?.service == "https://new.example")
    // A different service does not know the sign-in, so that it ends and the app is told.
    bench = Bench { $0.services = ["https://new.example"] }
    bench.setRequestor(tokens: tokens)
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.missing)
    #expect(bench.machine.tokens.authentication == nil)
    #expect(bench.statuses == [.noSession])
    // A service that cannot be reached says nothing about the sign-in, so that it stays.
    bench = Bench { $0.services = ["https://new.example"] }
    bench.setRequestor(tokens: tokens)
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.failed(.away))
    #expect(bench.machine.tokens.authentication != nil)
  }

  @Test func `a logout that the old address did not receive is sent to the new one`() {
    var tokens = RequestorTokens()
    tokens.unfinishedLogouts = ["https://old.example"]
    var bench = Bench()
    bench.setRequestor(tokens: tokens)
    bench.answer(.configuration(Bench.configuration))
    #expect(bench.open.map(\.operation) == [.logout])
    bench.answer(.done)
    #expect(bench.machine.tokens.unfinishedLogouts.isEmpty)
  }

  // MARK: The preauthorization cache

  @Test func `the preauthorization cache ends with the process, the sign-in or a change of profile`() {
    let ends: [(String, (inout Bench) -> Void)] = [
      (
        "setRequestor",
        { bench in
          bench.setRequestor()
          bench.answer(.configuration(Bench.configuration))
          bench.answer(.granted)
        }
      ),
      (
        "setRequestor, and the service says nothing of the sign-in",
        { bench in
          bench.setRequestor()
          bench.answer(.configuration(Bench.configuration))
          bench.answer(.failed(.away))
        }
      ),
      (
        "another process signs in",
        { bench in
          var tokens = bench.machine.tokens
          tokens.authentication?.signIn.userID = "somebody else"
          bench.send(.tokens(tokens))
        }
      ),
      ("another profile", { $0.send(.setOptions(EnablerOptions(applicationProfile: "kids"))) }),
      ("a restart", { $0 = Bench.ready(tokens: $0.machine.tokens) }),
      (
        "a sign-in",
        { bench in
          bench.call(
            .getAuthentication(AuthenticationRequest(isForced: true, choice: .provider("PASS"))))
          bench.answer(.done)
          bench.answer(.granted)
        }
      ),
    ]
    for (name, end) in ends {
      var bench = Bench.signedIn()
      bench.call(.preauthorize(["a"], usesCache: true))
      bench.answer(.preauthorized(["a"]))
      bench.call(.preauthorize(["a"], usesCache: true))
      #expect(bench.open.isEmpty)
      end(&bench)
      bench.forget()
      bench.call(.preauthorize(["a"], usesCache: true))
      #expect(bench.sent.map(\.operation) == [.preauthorize(["a"])], "\(name)")
    }
  }

  // MARK: Events of one call

  @Test func `a call receives its own events and no others`() {
    var bench = Bench.signedIn()
    let signIn = bench.call(
      .getAuthentication(AuthenticationRequest(isForced: true, choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    let code = bench.hearers { if case .registrationCode = $0 { true } else { false } }
    #expect(code == [[signIn]])
    bench.forget()
    let check = bench.call(.checkAuthorization("", data: [:]))
    #expect(bench.hearers { _ in true }.allSatisfy { $0 == [check] })
  }

  @Test func `an awaited call fails at once when no requestor was set`() {
    var bench = Bench()
    let request = bench.request()
    bench.send(.asked(request, .checkAuthentication))
    #expect(bench.error(of: request)?.kind == .notConfigured)
    #expect(bench.machine.queue.isEmpty)
  }
}

extension Bench {
  var deadlines: [(timer: TimerID, time: Duration)] {
    actions.compactMap { if case .startDeadline(let timer, let time) = $0 { (timer, time) } else { nil } }
  }

  /// For each matching event, the app's calls that received it.
  func hearers(_ fits: (EntitlementEvent) -> Bool) -> [[RequestID]] {
    actions.compactMap {
      if case .tell(let event, let requests) = $0, fits(event) { requests } else { nil }
    }
  }
}
