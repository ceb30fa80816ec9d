package import RegentPairing
internal import RegentPlatform

/// The service's clock for deciding what is old enough to be deleted (``RetentionClock``).
///
/// It also says whether the machine's clock is suspected to be wrong.
package final class SharedRetentionClock: Sendable {
  private let clock: ServiceClock
  private let state: Locked<RetentionClock>

  /// Continues from the stored time.
  ///
  /// `text` is the last time that was accepted as correct, in milliseconds. Without it, the time inside `day`, the
  /// stored counters of the day, is used: earlier versions stored only those.
  init(_ clock: ServiceClock, keptAs text: String?, day: String?) {
    self.clock = clock
    let kept = text.flatMap(Int64.init).map(Instant.init(milliseconds:))
    state = Locked(
      RetentionClock(
        kept: kept ?? day.flatMap { DayNumbers.keptTime(of: $0) }, wall: clock.now,
        boot: clock.uptime))
  }

  /// The time by which to decide what is old enough to be deleted.
  package var now: Instant {
    let (wall, boot) = (clock.now, clock.uptime)
    return state.withLock { $0.time(wall: wall, boot: boot) }
  }

  /// How far ahead the machine's clock seems to be, and after how long the service will trust it nevertheless; nil
  /// while the service trusts it.
  package var doubt: (ahead: Duration, left: Duration)? {
    let (wall, boot) = (clock.now, clock.uptime)
    return state.withLock { state in
      _ = state.time(wall: wall, boot: boot)
      guard let ahead = state.ahead, let left = state.trialLeft(at: boot) else { return nil }
      return (ahead, left)
    }
  }
}

/// A problem with the machine's clock.
package enum ClockTrouble: Hashable, Sendable {
  /// The clock seems to be ahead by the first duration.
  ///
  /// If it keeps running evenly, the service trusts it after `left`.
  case ahead(Duration, left: Duration)
  /// The clock was set back to a time at which nonces were already used.
  ///
  /// Signed requests are refused for this long, because replays could not be recognized.
  case setBack(Duration)

  /// A short text about the clock problem for health checks and operators.
  package var word: String {
    switch self {
    case .ahead: "ahead: nothing is deleted for its age"
    case .setBack: "was set back: signed calls are refused"
    }
  }
}

extension ServiceCore {
  /// For how much longer signed requests are refused because the clock was set back; nil when they are accepted.
  package var callsClosed: Duration? {
    nonces.closedUntil.map { $0.since(clock.now) }.flatMap { $0 > .zero ? $0 : nil }
  }

  /// The current problem with the machine's clock; nil when none is known.
  package var clockTrouble: ClockTrouble? {
    if let left = callsClosed { return .setBack(left) }
    return age.doubt.map { .ahead($0.ahead, left: $0.left) }
  }
}
