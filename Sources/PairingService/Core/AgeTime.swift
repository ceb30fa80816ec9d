package import RegentPairing
internal import RegentPlatform

/// The service's ``AgeClock``: by which time things are deleted, and whether the machine's clock is doubted.
package final class AgeTime: Sendable {
  private let clock: ServiceClock
  private let state: Locked<AgeClock>

  /// Goes on from what was kept: the milliseconds of the time that was believed last; else from the numbers of the day,
  /// which earlier versions kept and which are a time as well.
  init(_ clock: ServiceClock, keptAs text: String?, day: String?) {
    self.clock = clock
    let kept = text.flatMap(Int64.init).map(Instant.init(milliseconds:))
    state = Locked(
      AgeClock(
        kept: kept ?? day.flatMap { DayNumbers.keptTime(of: $0) }, wall: clock.now,
        boot: clock.uptime))
  }

  /// The time by which things may be deleted now.
  package var now: Instant {
    let (wall, boot) = (clock.now, clock.uptime)
    return state.withLock { $0.time(wall: wall, boot: boot) }
  }

  /// How much too late the machine's clock seems to be, and after how long it is believed all the same; nil when it is
  /// not doubted.
  package var doubt: (ahead: Duration, left: Duration)? {
    let (wall, boot) = (clock.now, clock.uptime)
    return state.withLock { state in
      _ = state.time(wall: wall, boot: boot)
      guard let ahead = state.ahead, let left = state.trialLeft(at: boot) else { return nil }
      return (ahead, left)
    }
  }
}

/// What is the matter with the machine's clock.
package enum ClockTrouble: Hashable, Sendable {
  /// It is later than it should be, and is believed after so long all the same.
  case ahead(Duration, left: Duration)
  /// It shows times that it had before; signed calls are refused for so long.
  case setBack(Duration)

  /// For who watches the service.
  package var word: String {
    switch self {
    case .ahead: "ahead: nothing is deleted for its age"
    case .setBack: "was set back: signed calls are refused"
    }
  }
}

extension ServiceCore {
  /// For how long signed calls are refused because the clock was set back; nil when they are not.
  package var callsClosed: Duration? {
    nonces.closedUntil.map { $0.since(clock.now) }.flatMap { $0 > .zero ? $0 : nil }
  }

  /// What is the matter with the machine's clock; nil when nothing is known to be.
  package var clockTrouble: ClockTrouble? {
    if let left = callsClosed { return .setBack(left) }
    return age.doubt.map { .ahead($0.ahead, left: $0.left) }
  }
}
