import PairingStore
import RegentPlatform

/// Looks to it that nobody waits for the lane for ever.
final class Patience: Sendable {
  private struct State {
    /// All writes that are not answered, in the order of their ends.
    var open = Queue<Request>()
    /// Whether the thread sleeps until there is one.
    ///
    /// Otherwise it looks by itself: waking it for each write costs the writer more than all that the thread does.
    var isAsleep = false
    /// Those that end by then are told at once.
    var hurried: UInt64 = 0
  }

  private let span: UInt64
  private let most: Int
  private let standby: Condition
  private let state = Monitor(State())

  /// Between two looks at one that waits.
  private static let pause: UInt64 = 100_000_000

  /// `standby` is whether a COMMIT waits for it, for whoever is told why there is no answer.
  init(_ span: Duration, most: Int, standby: Condition) {
    self.span = span.wholeNanoseconds
    self.most = most
    self.standby = standby
  }

  /// When what begins now must be answered, on the monotonic clock.
  var end: UInt64 { Clocks.monotonicNanoseconds() + span }

  /// Takes a write, unless it is closed or has too many.
  func add(_ request: Request) -> Bool {
    let wakes = state.withLock { state -> Bool? in
      guard !state.open.isClosed, state.open.count < most else { return nil }
      state.open.append(request)
      return state.isAsleep
    }
    if wakes == true { state.wakeOne() }
    return wakes != nil
  }

  /// Nothing more is taken; who waits still is told so at once.
  func close() {
    state.withLock { $0.open.isClosed = true }
    state.wakeAll()
  }

  /// Tells whoever waits now; who comes later waits as ever.
  func giveUp() {
    let last = end
    state.withLock { $0.hurried = last }
    state.wakeAll()
  }

  /// Tells whoever has waited too long, until nothing more comes.
  func serve() {
    while let request = next() {
      // They come in the order of their ends: whoever waits for the first is in time for the others.
      while request.isOpen, Clocks.monotonicNanoseconds() < request.ends {
        let pause = min(request.ends, Clocks.monotonicNanoseconds() + Self.pause)
        if state.wait(until: pause, for: { $0.open.isClosed || request.ends <= $0.hurried ? true : nil }) == true {
          break
        }
      }
      request.giveUp(forStandby: standby.isSo)
    }
  }

  private func next() -> Request? {
    let first = state.wait { state -> Request?? in
      state.isAsleep = state.open.isEmpty && !state.open.isClosed
      if let first = state.open.take(1).first { return .some(first) }
      return state.open.isClosed ? .some(nil) : nil
    }
    return first ?? nil
  }
}
