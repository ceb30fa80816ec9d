internal import RegentOAuth
package import RegentPairing
internal import RegentPlatform

/// The time at which each pending code was last polled by its client, by the boot clock, in memory.
///
/// A poll longer ago than the interval no longer matters. So only the current and the previous interval are kept: at
/// most one entry for each pending code, and none after ten seconds without polls. After a restart, the first poll of
/// each code is accepted.
package final class PollPaces: Sendable {
  fileprivate struct PollPacesState {
    var current: [RegistrationID: PollPace] = [:]
    var earlier: [RegistrationID: PollPace] = [:]
    var number: Int64 = .min
  }

  private let state = Locked(PollPacesState())

  package init() {}

  package var count: Int { state.withLock { $0.current.count + $0.earlier.count } }

  /// Whether a poll of a pending code comes too early.
  ///
  /// The interval to the next poll begins with this poll in either case.
  package func isTooEarly(_ id: RegistrationID, at now: Uptime) -> Bool {
    state.withLock { state in
      state.turn(to: now)
      var pace = state.current[id] ?? state.earlier[id] ?? PollPace()
      defer { state.current[id] = pace }
      return pace.isTooEarly(at: now)
    }
  }

  /// Notes that a code's long poll has ended, so that the client may send the next poll at once.
  package func wasHeld(_ id: RegistrationID) {
    state.withLock { state in
      state.current[id]?.wasHeld()
      state.earlier[id]?.wasHeld()
    }
  }
}

extension PollPaces.PollPacesState {
  fileprivate mutating func turn(to now: Uptime) {
    let length = PollPace.interval.wholeMilliseconds
    let turn = now.milliseconds / length
    guard turn != number else { return }
    earlier = turn == number &+ 1 ? current : [:]
    current = [:]
    number = turn
  }
}
