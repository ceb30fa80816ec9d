import RegentPairing
import Testing

@testable import AccessEnabler

/// setRequestor asks the daemon at the same time as the services, so that an app's start waits only for the slower of
/// them.
@Suite("State machine: the daemon is asked during setRequestor")
struct EarlyQuestionTests {
  private static let granted = ServiceAnswer.platform(
    .status(PlatformStatus(permission: .granted, isSignedIn: true, provider: Bench.sports.id)))
  private static let configuration = ServiceAnswer.configuration(
    ServiceConfiguration(providers: [Bench.sports], domains: []))

  private static func starting() -> Bench {
    var bench = Bench()
    bench.send(.platform(isThere: true))
    bench.setRequestor()
    return bench
  }

  private static func questions(_ bench: Bench) -> Int { bench.sent.count { $0.isForDaemon } }

  @Test func `setRequestor asks daemon and service at once, and each only once`() {
    for isDaemonFirst in [true, false] {
      var bench = Self.starting()
      #expect(bench.open.map(\.isForDaemon) == [false, true])
      if isDaemonFirst { bench.answer(Self.granted) }
      bench.answer(Self.configuration)
      bench.answer(.missing)
      if !isDaemonFirst { bench.answer(Self.granted) }
      #expect(bench.open.map(\.operation) == [.profileRequest(provider: Bench.sports.id)])
      #expect(Self.questions(bench) == 1)
    }
  }

  @Test func `the service gets the profile request together with the question whether this app is signed in`() {
    for isDaemonFirst in [true, false] {
      var bench = Self.starting()
      if isDaemonFirst { bench.answer(Self.granted) }
      bench.answer(Self.configuration)
      if !isDaemonFirst { bench.answer(Self.granted) }
      #expect(bench.open.map(\.operation) == [.authentication, .profileRequest(provider: Bench.sports.id)])
      let request = bench.open[1].id
      // The profile request is answered first. The exchange goes on only after the service says that the app is not
      // signed in.
      bench.send(.answered(request, .profileRequest("cmVxdWVzdA==")))
      #expect(bench.open.map(\.operation) == [.authentication])
      bench.answer(.missing)
      #expect(bench.open.count == 1 && bench.open[0].isForDaemon)
    }
  }

  @Test func `a profile request is dropped when the viewer's consent is too old or the app is already signed in`() {
    for answer in [ServiceAnswer.missing, .authentication(.regular)] {
      var bench = Self.starting()
      bench.answer(Self.granted)
      bench.answer(Self.configuration)
      let request = bench.open[1].id
      // Either the consent is older than a second when the service answers, or the app has a sign-in of its own.
      if answer == .missing { bench.now = bench.now + .milliseconds(1_001) }
      bench.answer(answer)
      #expect(!bench.open.contains { $0.id == request })
      bench.send(.answered(request, .profileRequest("cmVxdWVzdA==")))
      #expect(bench.open.allSatisfy { $0.isForDaemon } && bench.open.count == (answer == .missing ? 1 : 0))
    }
  }

  @Test func `setRequestor for another requestor cancels the profile request of the first`() {
    var bench = Self.starting()
    bench.answer(Self.granted)
    bench.answer(Self.configuration)
    bench.setRequestor("OTHER")
    #expect(bench.open.map(\.isForDaemon) == [false, true] && bench.open.allSatisfy { $0.requestor == "OTHER" })
  }

  @Test func `setRequestor fetches the sign-in when the exchange with the service returns none`() {
    for comesWithIt in [true, false] {
      var bench = Self.starting()
      bench.answer(Self.granted)
      bench.answer(Self.configuration)
      bench.answer(.missing)
      bench.answer(.profileRequest("cmVxdWVzdA=="))
      bench.answer(.platform(.assertion("word")))
      #expect(bench.open.map(\.operation) == [.exchange(provider: Bench.sports.id, assertion: "word")])
      if !comesWithIt { bench.answer(.done) }
      bench.answer(.authentication(.regular))
      #expect(bench.open.isEmpty && bench.machine.tokens.authentication?.signIn.source == .platform)
    }
  }

  @Test func `setRequestor asks the daemon again when its answer is older than a second after a slow service`() {
    var bench = Self.starting()
    bench.answer(Self.granted)
    bench.now = bench.now + .milliseconds(1_001)
    bench.answer(Self.configuration)
    bench.answer(.missing)
    #expect(bench.open.map(\.isForDaemon) == [true] && Self.questions(bench) == 2)
    // Meanwhile the viewer has denied the app access to the box's account.
    bench.answer(.platform(.status(PlatformStatus(permission: .denied, isSignedIn: true))))
    #expect(bench.statuses == [.permissionDenied] && bench.open.isEmpty)
  }

  @Test func `a clock that is set back does not keep a daemon answer stale for ever`() {
    var bench = Self.starting()
    bench.answer(Self.granted)
    bench.now = bench.now + .seconds(-86_400)
    bench.answer(Self.configuration)
    bench.answer(.missing)
    bench.answer(Self.granted)
    #expect(bench.open.map(\.operation) == [.profileRequest(provider: Bench.sports.id)])
  }

  @Test func `a setRequestor that fails cancels the query to the daemon, and the next one asks again`() {
    var bench = Self.starting()
    bench.answer(.failed(.away))
    #expect(bench.open.isEmpty && bench.statuses == [.unreachable])
    bench.setRequestor()
    bench.setRequestor("OTHER")
    #expect(bench.open.map(\.isForDaemon) == [false, true] && bench.open.allSatisfy { $0.requestor == "OTHER" })
  }

  @Test func `setRequestor sends no query when the box has no daemon`() {
    var bench = Bench()
    bench.setRequestor()
    bench.answer(Self.configuration)
    bench.answer(.missing)
    #expect(Self.questions(bench) == 0 && bench.machine.early == nil)
  }
}
