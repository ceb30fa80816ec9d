import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("Sign-ins that fail at the service")
struct LoginFailureTests {
  @Test(arguments: [
    ServiceAnswer.failed(.status(400)), .failed(.status(500)), .failed(.away),
    .failed(ServiceFailure(kind: .unreadable)), .done,
  ])
  func `a code that cannot be had ends the sign-in with REG500`(answer: ServiceAnswer) {
    var bench = Bench.ready()
    let request = bench.call(
      .getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(answer)
    #expect(bench.error(of: request)?.status == .noRegistrationCode)
    #expect(bench.statuses.contains(.noRegistrationCode))
    #expect(
      bench.told.filter(\.isCallback).last
        == .setAuthenticationStatus(.notAuthenticated, .genericAuthentication))
    #expect(bench.open.isEmpty)
  }

  @Test(arguments: [
    ServiceAnswer.failed(.status(403)), .failed(.status(404)), .failed(.status(412)),
  ])
  func `a sign-in that was approved and is not there ends with N500`(answer: ServiceAnswer) {
    var (bench, request) = Bench.waiting()
    bench.answer(.code(.record(.approved, 2)))
    bench.answer(answer)
    #expect(bench.error(of: request)?.status == .authenticationFailed)
    #expect(bench.statuses.contains(.authenticationFailed))
    #expect(bench.machine.tokens.authentication == nil)
  }

  @Test(
    arguments: [(404, .codeWithdrawn), (410, .codeExpired)] as [(Int, EntitlementError.Kind)])
  func `a code that is gone may have been used: the sign-in tells`(
    status: Int, kind: EntitlementError.Kind
  ) {
    var (bench, request) = Bench.waiting()
    bench.answer(.failed(.status(status)))
    #expect(bench.open.map(\.operation) == [.authentication])
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
    #expect(bench.error(of: request) == nil)
    var (other, lost) = Bench.waiting()
    other.answer(.failed(.status(status)))
    other.answer(.missing)
    #expect(other.error(of: lost)?.kind == kind)
    // A service forgets expired codes after a while: then 404 says nothing new.
    var (late, over) = Bench.waiting()
    late.now = late.now + .seconds(1_801)
    late.answer(.failed(.status(status)))
    late.answer(.missing)
    #expect(late.error(of: over)?.kind == .codeExpired)
  }

  @Test(arguments: [nil, ProviderChoice.provider("CABLE")])
  func `whoever signs in anew never gets the earlier sign-in`(choice: ProviderChoice?) {
    for ending in [CodeRecord.record(.expired, 2), .record(.withdrawn, 2)] {
      var bench = Bench.signedIn()
      let request = bench.call(
        .getAuthentication(AuthenticationRequest(isForced: true, choice: choice ?? .onSecondScreen)))
      bench.answer(.code(.offered))
      // With a provider the service is asked first whether it lets everybody in; it repeats what was there before.
      if choice != nil { bench.answer(.granted) }
      #expect(bench.outcomes(of: request).isEmpty)
      bench.answer(.code(ending))
      if ending.status == .withdrawn { bench.answer(.granted) }
      #expect(
        bench.error(of: request)?.kind
          == (ending.status == .withdrawn ? .codeWithdrawn : .codeExpired))
      // The earlier one stays.
      #expect(bench.machine.tokens.authentication != nil)
    }
  }

  @Test func `whoever signs in anew gets the new sign-in, also when the code is gone already`() {
    var bench = Bench.signedIn()
    let request = bench.call(
      .getAuthentication(AuthenticationRequest(isForced: true, choice: .onSecondScreen)))
    bench.answer(.code(.offered))
    bench.answer(.failed(.status(404)))
    var new = GrantedAuthentication.regular
    new.expires = new.expires + .seconds(60)
    bench.answer(.authentication(new))
    #expect(bench.error(of: request) == nil)
    #expect(bench.machine.tokens.authentication?.signIn.expires == new.expires)
  }

  @Test func `a service that is there again says so at once, and is waited for then`() {
    var (bench, _) = Bench.waiting()
    bench.answer(.failed(.away))
    bench.ring()
    // Not held: the screen says that there is no connection until it is answered.
    #expect(bench.open.map(\.operation) == [.readCode("BCDFGHJK")])
    bench.answer(.code(.record(.offered, 1, wasHeld: false)))
    #expect(bench.statuses.last == .connectionBack)
    #expect(bench.open.map(\.operation) == [.awaitCode("BCDFGHJK", after: 1)])
  }
}
