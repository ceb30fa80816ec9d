import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("State machine: sign-ins that fail at the service")
struct LoginFailureTests {
  @Test(arguments: [
    ServiceAnswer.failed(.status(400)), .failed(.status(500)), .failed(.away),
    .failed(ServiceFailure(kind: .unreadable)), .done,
  ])
  func `a sign-in ends with REG500 when the service creates no code`(answer: ServiceAnswer) {
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
  func `a sign-in that was approved but is missing at the service ends with N500`(answer: ServiceAnswer) {
    var (bench, request) = Bench.waiting()
    bench.answer(.code(.record(.approved, 2)))
    bench.answer(answer)
    #expect(bench.error(of: request)?.status == .authenticationFailed)
    #expect(bench.statuses.contains(.authenticationFailed))
    #expect(bench.machine.tokens.authentication == nil)
  }

  @Test(
    arguments: [(404, .codeWithdrawn), (410, .codeExpired)] as [(Int, EntitlementError.Kind)])
  func `when the service no longer knows the code, the sign-in succeeds if the service has one and fails otherwise`(
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
    // A service deletes expired codes after a while, so that 404 after the code's lifetime also means expired.
    var (late, over) = Bench.waiting()
    late.now = late.now + .seconds(1_801)
    late.answer(.failed(.status(status)))
    late.answer(.missing)
    #expect(late.error(of: over)?.kind == .codeExpired)
  }

  @Test(arguments: [nil, ProviderChoice.provider("CABLE")])
  func `a forced sign-in whose code ends does not return the earlier sign-in`(choice: ProviderChoice?) {
    for ending in [CodeRecord.record(.expired, 2), .record(.withdrawn, 2)] {
      var bench = Bench.signedIn()
      let request = bench.call(
        .getAuthentication(AuthenticationRequest(isForced: true, choice: choice ?? .onSecondScreen)))
      bench.answer(.code(.offered))
      // With a provider the SDK first asks whether the service admits every viewer. The service then returns the
      // earlier sign-in.
      if choice != nil { bench.answer(.granted) }
      #expect(bench.outcomes(of: request).isEmpty)
      bench.answer(.code(ending))
      if ending.status == .withdrawn { bench.answer(.granted) }
      #expect(
        bench.error(of: request)?.kind
          == (ending.status == .withdrawn ? .codeWithdrawn : .codeExpired))
      // The earlier sign-in remains valid.
      #expect(bench.machine.tokens.authentication != nil)
    }
  }

  @Test func `a forced sign-in returns the new sign-in even when the service no longer knows the code`() {
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

  @Test func `after an outage the code is read without a long poll first, so that the app is told at once`() {
    var (bench, _) = Bench.waiting()
    bench.answer(.failed(.away))
    bench.ring()
    // A plain read, no long poll: the screen says that there is no connection until the answer is there.
    #expect(bench.open.map(\.operation) == [.readCode("BCDFGHJK")])
    bench.answer(.code(.record(.offered, 1, wasHeld: false)))
    #expect(bench.statuses.last == .connectionBack)
    #expect(bench.open.map(\.operation) == [.awaitCode("BCDFGHJK", after: 1)])
  }
}
