import RegentPairing
import Testing

@testable import AccessEnabler

/// The callbacks that each call of the entitlement API causes.
///
/// A status may come at any time.
@Suite("State machine: the callbacks of each call")
struct TriggerTests {
  /// The names of the callbacks that were made, each once, in alphabetical order.
  private func told(_ bench: Bench) -> [String] {
    let names = bench.told.compactMap { event -> String? in
      switch event {
      // Only event streams carry these; delegates get them as a status.
      case .status, .registrationCode, .phoneConnected: nil
      default: String("\(event)".prefix { $0 != "(" })
      }
    }
    return Set(names).sorted()
  }

  @Test func `setRequestor causes only setRequestorComplete, signed in or not`() {
    for answer in [ServiceAnswer.granted, .missing] {
      var bench = Bench()
      bench.setRequestor()
      bench.answer(.configuration(Bench.configuration))
      bench.answer(answer)
      #expect(told(bench) == ["setRequestorComplete"])
    }
  }

  @Test func `checkAuthentication and handleExternalURL cause the authentication status and tracking data`() {
    for start in [Bench.signedIn(), Bench.ready()] {
      var bench = start
      bench.call(.checkAuthentication)
      #expect(told(bench) == ["sendTrackingData", "setAuthenticationStatus"])
    }
    var bench = Bench.ready { $0.login = .browser(redirectURL: "app://done") }
    bench.call(.getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.forget()
    bench.call(.handleExternalURL("app://done"))
    bench.answer(.granted)
    #expect(told(bench) == ["sendTrackingData", "setAuthenticationStatus"])
  }

  @Test func `getAuthentication causes the authentication status and tracking data, or the picker`() {
    var bench = Bench.signedIn()
    bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(told(bench) == ["sendTrackingData", "setAuthenticationStatus"])
    bench = Bench.ready()
    bench.call(.getAuthentication(AuthenticationRequest()))
    #expect(told(bench) == ["displayProviderDialog"])
  }

  @Test func `setSelectedProvider causes tracking data, then the page or the code, then the authentication status`() {
    for login in [LoginMethod.secondScreen, .browser(redirectURL: "app://done")] {
      var bench = Bench.ready { $0.login = login }
      bench.call(.getAuthentication(AuthenticationRequest()))
      bench.forget()
      bench.call(.setSelectedProvider("CABLE"))
      bench.answer(.code(.offered))
      if case .browser = login {
        #expect(told(bench) == ["navigateToUrl", "sendTrackingData"])
      } else {
        #expect(told(bench) == ["sendTrackingData"])
        #expect(bench.statuses == [.registrationCode])
      }
      bench.forget()
      bench.call(.setSelectedProvider(nil))
      #expect(told(bench) == ["sendTrackingData", "setAuthenticationStatus"])
    }
  }

  @Test func `preauthorization, getSelectedProvider and getMetadata cause only their own callback`() {
    var bench = Bench.signedIn()
    bench.call(.preauthorize(["r"], usesCache: true))
    bench.answer(.preauthorized(["r"]))
    #expect(told(bench) == ["preauthorizedResources"])
    bench.forget()
    bench.call(.getSelectedProvider)
    #expect(bench.told == [.selectedProvider(Bench.cable)])
    bench.forget()
    bench.call(.getMetadata(.authenticationExpiry, arguments: [:]))
    #expect(told(bench) == ["setMetadataStatus"])
  }

  @Test func `an authorization causes a token or a refusal, tracking data, and the status of a sign-in`() {
    var bench = Bench.signedIn()
    bench.call(.checkAuthorization("r", data: [:]))
    bench.answer(.permit(PendingCallTests.permit))
    bench.answer(.mediaToken(PendingCallTests.access))
    #expect(told(bench) == ["sendTrackingData", "setToken"])
    bench.forget()
    bench.call(.checkAuthorization("other", data: [:]))
    bench.answer(.failed(.status(403)))
    #expect(told(bench) == ["sendTrackingData", "tokenRequestFailed"])
    bench = Bench.ready()
    bench.call(.checkAuthorization("r", data: [:]))
    #expect(told(bench) == ["sendTrackingData", "setAuthenticationStatus", "tokenRequestFailed"])
    bench.forget()
    bench.call(.getAuthorization("r", data: [:]))
    #expect(told(bench) == ["displayProviderDialog"])
    // A second call waits for the same sign-in, and both end with it.
    bench.call(.getAuthorization("other", data: [:]))
    bench.forget()
    bench.call(.setSelectedProvider(nil))
    #expect(bench.told.filter { "\($0)".hasPrefix("tokenRequestFailed") }.count == 2)
  }

  @Test func `logout causes the authentication status, and the logout page first with a browser login`() {
    var bench = Bench.signedIn()
    bench.call(.logout)
    bench.answer(.done)
    #expect(told(bench) == ["setAuthenticationStatus"])
    bench = Bench.signedIn { $0.login = .browser(redirectURL: "app://done") }
    bench.call(.logout)
    bench.answer(.done)
    #expect(told(bench) == ["navigateToUrl"])
    bench.call(.handleExternalURL("app://done"))
    #expect(told(bench) == ["navigateToUrl", "setAuthenticationStatus"])
  }

  @Test func `the queue of calls before setRequestor is bounded, and an overflow is reported once`() {
    var bench = Bench()
    for _ in 0..<EnablerStateMachine.mostQueued { bench.call(.getSelectedProvider) }
    #expect(bench.told.isEmpty)
    let refused = (0..<3).map { _ in bench.call(.getSelectedProvider) }
    #expect(refused.allSatisfy { bench.error(of: $0)?.kind == .outOfOrder })
    #expect(bench.statuses == [.internalError])
    #expect(bench.machine.queue.count == EnablerStateMachine.mostQueued)
    // The queued calls still run, and the queue has room again.
    bench.setRequestor()
    bench.answer(.configuration(Bench.configuration))
    bench.answer(.missing)
    #expect(bench.machine.queue.isEmpty)
    let later = bench.call(.getSelectedProvider)
    #expect(bench.outcomes(of: later) == [.selected(nil)])
  }
}
