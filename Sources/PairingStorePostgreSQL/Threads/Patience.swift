import PairingStore
import RegentPlatform

/// Enforces the time limit of writes: fails those that the writer thread has not completed in time.
final class Patience: Sendable {
  private struct PatienceState {
    /// All writes that have not been answered, sorted by deadline.
    var open = Queue<Request>()
    /// Whether the thread sleeps until a write is added.
    ///
    /// While there are writes it polls, because waking it for each write would cost the writer more than all of this
    /// thread's work.
    var isAsleep = false
    /// The time before which all writes fail at once, whatever time they have left.
    var hurried: UInt64 = 0
  }

  private let span: UInt64
  private let most: Int
  private let standby: Condition
  private let state = Monitor(PatienceState())

  /// The time between two checks of the oldest write, in nanoseconds.
  private static let pause: UInt64 = 100_000_000

  /// Makes the thread's state.
  ///
  /// `standby` says whether COMMITs wait for the standby; error messages mention it.
  init(_ span: Duration, most: Int, standby: Condition) {
    self.span = span.wholeNanoseconds
    self.most = most
    self.standby = standby
  }

  /// The deadline of a write that begins now, on the monotonic clock.
  var end: UInt64 { Clocks.monotonicNanoseconds() + span }

  /// Adds a write whose time limit is to be enforced.
  ///
  /// Returns false when the limits are closed for new writes or there are too many of them.
  func add(_ request: Request) -> Bool {
    let wakes = state.withLock { state -> Bool? in
      guard !state.open.isClosed, state.open.count < most else { return nil }
      state.open.append(request)
      return state.isAsleep
    }
    if wakes == true { state.wakeOne() }
    return wakes != nil
  }

  /// Refuses new writes, and fails the waiting ones at once.
  func close() {
    state.withLock { $0.open.isClosed = true }
    state.wakeAll()
  }

  /// Fails all present writes at once.
  ///
  /// Later writes wait as usual.
  func giveUp() {
    let last = end
    state.withLock { $0.hurried = last }
    state.wakeAll()
  }

  /// Fails each write at its deadline, until this object is closed.
  func serve() {
    while let request = next() {
      // Writes are sorted by deadline, so while the first one has time, none of the others is late.
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
