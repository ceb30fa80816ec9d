import RegentPairing
import Testing

@testable import AccessEnabler

@Suite struct `An outage or a proxy during a long poll` {
  @Test func `a short restart of the service is not reported to the app`() {
    var (bench, request) = waiting()
    let away: [ServiceFailure] = [
      ServiceFailure(kind: .status(503)), .away, ServiceFailure(kind: .status(502)), .status(404),
      ServiceFailure(kind: .status(503), retryAfter: .seconds(1)),
    ]
    for failure in away {
      bench.answer(.failed(failure))
      bench.now = bench.now + .seconds(1)
      bench.ring()
    }
    bench.answer(.code(.record(.offered, 1, wasHeld: false)))
    #expect(bench.statuses.isEmpty, "the app was told of the restart: \(bench.statuses)")
    #expect(bench.error(of: request) == nil)
    bench.answer(.code(.record(.approved, 2)))
    bench.answer(.granted)
    #expect(bench.outcomes(of: request).count == 1)
  }

  @Test func `an outage longer than a service restart is reported to the app, and a 404 after it ends the sign-in`() {
    var (bench, request) = waiting()
    for _ in 0..<8 {
      bench.answer(.failed(.away))
      bench.now = bench.now + .seconds(1)
      bench.ring()
    }
    #expect(bench.statuses == [.connectionLost])
    bench.answer(.failed(.status(404)))
    bench.answer(.failed(.status(404)))
    #expect(bench.error(of: request)?.kind == .codeWithdrawn)
  }

  @Test func `an outage longer than a service restart is reported to the app, even between two retries`() throws {
    var (bench, _) = waiting()
    bench.answer(.failed(.away))
    let deadline = try #require(bench.deadline)
    // The next attempt is under way and has no answer yet.
    bench.ring()
    bench.now = bench.now + .seconds(6)
    #expect(bench.statuses.isEmpty)
    bench.send(.timer(deadline))
    #expect(bench.statuses == [.connectionLost])
    bench.answer(.failed(.away))
    #expect(bench.statuses == [.connectionLost], "reported once")
    bench.ring()
    bench.answer(.code(.record(.offered, 1, wasHeld: false)))
    #expect(bench.statuses == [.connectionLost, .connectionBack])
    // A service that is back within the silence period is not mentioned.
    var (short, _) = waiting()
    short.answer(.failed(.away))
    let late = try #require(short.deadline)
    short.ring()
    short.answer(.code(.record(.offered, 1, wasHeld: false)))
    short.send(.timer(late))
    #expect(short.statuses.isEmpty)
  }

  @Test(arguments: [20, 1])
  func `a silent service is asked without a long poll, and reported two seconds later`(lasted: Int) throws {
    var (bench, _) = waiting()
    bench.now = bench.now + .seconds(lasted)
    bench.answer(.failed(ServiceFailure(kind: .unreachable, absence: .silent)))
    if bench.open.isEmpty { bench.ring() }
    let call = try #require(bench.open.last)
    guard case .readCode = call.operation else { Issue.record("a long poll was sent: \(call.operation)"); return }
    let deadline = try #require(bench.deadline)
    bench.now = bench.now + .seconds(2)
    #expect(bench.statuses.isEmpty)
    bench.send(.timer(deadline))
    #expect(bench.statuses == [.connectionLost])
  }

  @Test(arguments: [2, 3, 4, 10, 30])
  func `a long poll that a proxy cuts off is shortened until the proxy lets it end, and the app gets no status`(
    limit: Int
  ) {
    var (bench, _) = waiting()
    var asked: [Int] = []
    for _ in 0..<20 {
      let hold = bench.open.last?.hold ?? 50
      asked.append(hold)
      guard hold >= limit else { break }
      bench.now = bench.now + .seconds(limit)
      bench.answer(.failed(ServiceFailure(kind: .status(504))))
    }
    #expect((asked.last ?? limit) < limit, "\(asked)")
    #expect(bench.statuses.isEmpty)
    #expect(bench.open.count == 1, "one long poll is open")
    // The following long polls keep the shorter length.
    bench.now = bench.now + .seconds(3)
    bench.answer(.code(.record(.offered, 1)))
    #expect(bench.open.last?.hold == asked.last)
  }

  @Test func `a long poll returns to its full length within twenty minutes after the service was killed`() {
    var (bench, _) = waiting()
    bench.now = bench.now + .seconds(20)
    bench.answer(.failed(ServiceFailure(kind: .unreachable, absence: .lost)))
    #expect(bench.open.last?.hold == 15)
    let start = bench.now
    var sequence = 0
    while let hold = bench.open.last?.hold, bench.now.since(start) < .seconds(3600) {
      bench.now = bench.now + .milliseconds(hold * 900)
      bench.answer(.code(.record(.offered, 1)))
      sequence += 1
    }
    #expect(bench.open.count == 1 && bench.open.last?.hold == nil, "\(sequence) calls")
    #expect(bench.now.since(start) < .seconds(1200))
    #expect(bench.statuses.isEmpty)
  }

  @Test func `a proxy that cuts each long poll makes the client try longer ones ever more rarely`() {
    var length = LongPollDuration()
    func cut(_ seconds: Int) -> Bool {
      length.shorten(ServiceFailure(kind: .status(504)), after: .seconds(seconds), usual: 50)
    }
    var cuts = 0
    for _ in 0..<3000 {
      let asked = length.seconds ?? 50
      if asked >= 10 {
        cuts += cut(10) ? 1 : 0
      } else {
        length.lasted(.seconds(asked), usual: 50)
      }
    }
    #expect((3...16).contains(cuts), "\(cuts)")
    #expect((length.seconds ?? 50) < 10)
    // The service answers a second late behind a proxy with a limit of four seconds: a poll of three seconds is cut
    // there, one of two is not.
    var late = LongPollDuration()
    let halves = [4, 4, 4].map { late.shorten(ServiceFailure(kind: .status(504)), after: .seconds($0), usual: 50) }
    #expect(halves == [true, true, false] && late.seconds == 2)
    // A long poll that ends early because the code changed says nothing about the proxy's limit.
    var early = LongPollDuration()
    let isShorter = early.shorten(ServiceFailure(kind: .status(504)), after: .seconds(10), usual: 50)
    #expect(isShorter)
    for _ in 0..<1000 { early.lasted(.seconds(2), usual: 50) }
    #expect(early.seconds == 7)
  }

  @Test func `a call that ends at once or with another error does not shorten the long poll`() {
    for (status, seconds) in [(504, 1), (500, 10), (504, 80)] {
      var length = LongPollDuration()
      let isWorthIt = length.shorten(
        ServiceFailure(kind: .status(status)), after: .seconds(seconds), usual: 50)
      #expect(!isWorthIt && length.seconds == nil)
    }
  }

  @Test func `boxes that lose the service together spread their retries over a second or more`() {
    let pauses = (0...100).map { ActionPerformer.spread(.seconds(1), Double($0) / 100) }
    #expect(pauses.allSatisfy { $0 >= .seconds(1) })
    #expect((pauses.max() ?? .zero) - (pauses.min() ?? .zero) >= .seconds(1))
    #expect(ActionPerformer.spread(.seconds(60), 1) <= .seconds(78))
  }

  private func waiting() -> (Bench, RequestID) {
    var (bench, request) = Bench.waiting { $0.timing.silence = .seconds(6) }
    bench.forget()
    return (bench, request)
  }
}
