internal import RegentOAuth
package import RegentPairing
internal import RegentPlatform

/// When the codes of clients were last asked about, on the boot clock and in memory.
///
/// A question longer ago than the interval decides nothing any more, so that two generations of that length are all
/// that is kept: at most one entry for each live code, and none after ten quiet seconds. A restart forgets, in favour
/// of who asks.
package final class PollPaces: Sendable {
  fileprivate struct State {
    var current: [RegistrationID: PollPace] = [:]
    var earlier: [RegistrationID: PollPace] = [:]
    var number: Int64 = .min
  }

  private let state = Locked(State())

  package init() {}

  /// How many are remembered.
  package var count: Int { state.withLock { $0.current.count + $0.earlier.count } }

  /// Whether a question about a live code comes too early; it counts in either case.
  package func isTooEarly(_ id: RegistrationID, at now: Uptime) -> Bool {
    state.withLock { state in
      state.turn(to: now)
      var pace = state.current[id] ?? state.earlier[id] ?? PollPace()
      defer { state.current[id] = pace }
      return pace.isTooEarly(at: now)
    }
  }

  /// A question was held until its time was up: the next may come at once.
  package func wasHeld(_ id: RegistrationID) {
    state.withLock { state in
      state.current[id]?.wasHeld()
      state.earlier[id]?.wasHeld()
    }
  }
}

extension PollPaces.State {
  fileprivate mutating func turn(to now: Uptime) {
    let length = PollPace.interval.wholeMilliseconds
    let turn = now.milliseconds / length
    guard turn != number else { return }
    earlier = turn == number &+ 1 ? current : [:]
    current = [:]
    number = turn
  }
}
