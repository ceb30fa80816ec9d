import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("State machine: changes of a code")
struct NewsTests {
  @Test func `after a change of the code the next long poll is sent at once`() {
    for wasHeld in [false, true] {
      var (bench, request) = Bench.waiting()
      bench.forget()
      bench.answer(.code(.record(.opened, 2, wasHeld: wasHeld)))
      #expect(bench.open.map(\.operation) == [.awaitCode("BCDFGHJK", after: 2)])
      bench.answer(.code(.record(.claimed, 3, wasHeld: wasHeld)))
      #expect(bench.open.map(\.operation) == [.awaitCode("BCDFGHJK", after: 3)])
      bench.answer(.code(.record(.approved, 4)))
      bench.answer(.granted)
      #expect(bench.pauses.isEmpty)
      #expect(bench.outcomes(of: request).count == 1)
    }
  }

  @Test func `a service without long polling is polled every five seconds and once more at once after a change`() {
    var (bench, _) = Bench.waiting()
    bench.forget()
    for _ in 0..<3 {
      bench.answer(.code(.record(.offered, 1, wasHeld: false)))
      #expect(bench.open.isEmpty)
      bench.now = bench.now + .seconds(5)
      bench.ring()
    }
    bench.answer(.code(.record(.opened, 2, wasHeld: false)))
    #expect(bench.open.count == 1)
    bench.answer(.code(.record(.opened, 2, wasHeld: false)))
    #expect(bench.open.isEmpty)
    #expect(bench.pauses == Array(repeating: .seconds(5), count: 4))
  }

  @Test(arguments: [false, true], [Duration.zero, .seconds(60), .seconds(-60)])
  func `a service that reports endless changes is asked eight times without a pause, then every few seconds`(
    wasHeld: Bool, jump: Duration
  ) {
    var (bench, _) = Bench.waiting()
    bench.forget()
    let start = bench.uptime
    var (questions, sequence) = (0, 1)
    // One minute in which every query is answered at once; the services' clock jumps with each answer.
    while bench.uptime.since(start) < .seconds(60), questions < 1_000 {
      bench.setClock(ahead: jump)
      if bench.open.isEmpty {
        #expect(questions >= 8)
        bench.now = bench.now + .seconds(5)
        bench.ring()
      } else {
        sequence += 1
        questions += 1
        bench.answer(.code(.record(.opened, sequence, wasHeld: wasHeld)))
      }
    }
    #expect((8...40).contains(questions), "\(questions) questions in a minute")
    // After a quiet minute the viewer's next changes are again followed by a query at once.
    bench.now = bench.now + .seconds(60)
    bench.ring()
    bench.forget()
    for _ in 0..<8 {
      sequence += 1
      bench.answer(.code(.record(.opened, sequence, wasHeld: wasHeld)))
    }
    #expect(bench.pauses.isEmpty)
  }

  @Test func `a jump of the clock neither makes the client poll in a loop nor delays a poll`() {
    var (bench, _) = Bench.waiting()
    bench.forget()
    bench.setClock(ahead: .seconds(60))
    bench.answer(.code(.record(.offered, 1)))
    #expect(bench.open.isEmpty && bench.pauses == [.seconds(5)])
    // A clock that is set back during a long poll delays nothing.
    bench.ring()
    bench.now = bench.now + .seconds(50)
    bench.setClock(ahead: .seconds(-3_600))
    bench.answer(.code(.record(.offered, 1)))
    #expect(bench.open.map(\.operation) == [.awaitCode("BCDFGHJK", after: 1)])
  }
}

extension Bench {
  /// The length of every pause that was started.
  fileprivate var pauses: [Duration] {
    actions.compactMap { if case .startTimer(_, let pause) = $0 { pause } else { nil } }
  }
}
