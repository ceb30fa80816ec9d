import RegentPairing
import Testing

@testable import AccessEnabler

/// The daemon is asked while the services are, so that a start waits for the slower of them alone.
@Suite("Machine: the daemon, asked early")
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

  @Test func `both are on their way at once, and nothing is asked twice`() {
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

  @Test func `the request goes out beside the question whether the app is in`() {
    for isDaemonFirst in [true, false] {
      var bench = Self.starting()
      if isDaemonFirst { bench.answer(Self.granted) }
      bench.answer(Self.configuration)
      if !isDaemonFirst { bench.answer(Self.granted) }
      #expect(bench.open.map(\.operation) == [.authentication, .profileRequest(provider: Bench.sports.id)])
      let request = bench.open[1].id
      // The later one first: the exchange goes on when the service has said that nobody is in.
      bench.send(.answered(request, .profileRequest("cmVxdWVzdA==")))
      #expect(bench.open.map(\.operation) == [.authentication])
      bench.answer(.missing)
      #expect(bench.open.count == 1 && bench.open[0].isForDaemon)
    }
  }

  @Test func `a request for nothing is dropped`() {
    for answer in [ServiceAnswer.missing, .authentication(.regular)] {
      var bench = Self.starting()
      bench.answer(Self.granted)
      bench.answer(Self.configuration)
      let request = bench.open[1].id
      // The viewer's yes is old by the time the service answers, or the app is in by itself.
      if answer == .missing { bench.now = bench.now + .milliseconds(1_001) }
      bench.answer(answer)
      #expect(!bench.open.contains { $0.id == request })
      bench.send(.answered(request, .profileRequest("cmVxdWVzdA==")))
      #expect(bench.open.allSatisfy { $0.isForDaemon } && bench.open.count == (answer == .missing ? 1 : 0))
    }
  }

  @Test func `another start takes the request back`() {
    var bench = Self.starting()
    bench.answer(Self.granted)
    bench.answer(Self.configuration)
    bench.setRequestor("OTHER")
    #expect(bench.open.map(\.isForDaemon) == [false, true] && bench.open.allSatisfy { $0.requestor == "OTHER" })
  }

  @Test func `the sign-in may come with the exchange, or is asked for`() {
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

  @Test func `what it said before a slow service answered is asked again`() {
    var bench = Self.starting()
    bench.answer(Self.granted)
    bench.now = bench.now + .milliseconds(1_001)
    bench.answer(Self.configuration)
    bench.answer(.missing)
    #expect(bench.open.map(\.isForDaemon) == [true] && Self.questions(bench) == 2)
    // The viewer has said no meanwhile.
    bench.answer(.platform(.status(PlatformStatus(permission: .denied, isSignedIn: true))))
    #expect(bench.statuses == [.permissionDenied] && bench.open.isEmpty)
  }

  @Test func `a clock that was found wrong makes no answer old for good`() {
    var bench = Self.starting()
    bench.answer(Self.granted)
    bench.now = bench.now + .seconds(-86_400)
    bench.answer(Self.configuration)
    bench.answer(.missing)
    bench.answer(Self.granted)
    #expect(bench.open.map(\.operation) == [.profileRequest(provider: Bench.sports.id)])
  }

  @Test func `a start that fails leaves no question behind, and another asks anew`() {
    var bench = Self.starting()
    bench.answer(.failed(.away))
    #expect(bench.open.isEmpty && bench.statuses == [.unreachable])
    bench.setRequestor()
    bench.setRequestor("OTHER")
    #expect(bench.open.map(\.isForDaemon) == [false, true] && bench.open.allSatisfy { $0.requestor == "OTHER" })
  }

  @Test func `without a daemon nobody is asked`() {
    var bench = Bench()
    bench.setRequestor()
    bench.answer(Self.configuration)
    bench.answer(.missing)
    #expect(Self.questions(bench) == 0 && bench.machine.early == nil)
  }
}
