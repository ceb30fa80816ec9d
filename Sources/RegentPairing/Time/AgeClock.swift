/// The time by which things are deleted for their age.
///
/// A wall clock that is a month ahead for ten seconds must not end what a month would end: what is deleted does not
/// come back when the clock is right again. So this clock goes on from the last time that was believed, as fast as the
/// boot clock does. When the wall clock is suddenly later than that, it is believed only after it has gone evenly for a
/// day; until then age is counted by the earlier time, and less is deleted. An earlier wall clock is believed at once.
public struct AgeClock: Hashable, Sendable {
  /// Clocks are corrected in small steps all the time, and that is no jump.
  public static let tolerance: Duration = .seconds(300)
  /// A machine may be off for so long before its clock is doubted.
  public static let pause: Duration = .seconds(86_400)
  /// For how long a clock that was doubted must go evenly.
  public static let trial: Duration = .seconds(86_400)

  /// Two clocks at one moment.
  private struct Reading: Hashable {
    var wall: Instant
    var boot: Uptime

    /// What the wall clock would show now.
    func wall(at now: Uptime) -> Instant { wall + now.since(boot) }
  }

  private var believed: Reading
  private var doubted: Reading?
  /// How much later the wall clock is than the time that is believed, while it is doubted.
  public private(set) var ahead: Duration?

  /// Begins with the time that was believed last.
  ///
  /// - Parameters:
  ///   - kept: that time; nil when there is none.
  ///   - wall: what the wall clock shows.
  ///   - boot: what the boot clock shows.
  public init(kept: Instant?, wall: Instant, boot: Uptime) {
    believed = Reading(wall: wall, boot: boot)
    guard let kept, wall.since(kept) > Self.pause else { return }
    believed.wall = kept
    _ = time(wall: wall, boot: boot)
  }

  /// The time by which things may be deleted now: never later than either clock says.
  public mutating func time(wall: Instant, boot: Uptime) -> Instant {
    let expected = believed.wall(at: boot)
    let difference = wall.since(expected)
    guard difference > Self.tolerance else {
      believe(Reading(wall: wall, boot: boot))
      return wall
    }
    let isEven = doubted.map { reading in
      let change = wall.since(reading.wall(at: boot))
      return change <= Self.tolerance && change >= .zero - Self.tolerance
    }
    if isEven != true { doubted = Reading(wall: wall, boot: boot) }
    if let doubted, boot.since(doubted.boot) >= Self.trial {
      believe(Reading(wall: wall, boot: boot))
      return wall
    }
    ahead = difference
    return expected
  }

  /// After how long the wall clock is believed, if it goes on as it does; nil when it is believed.
  public func trialLeft(at boot: Uptime) -> Duration? {
    doubted.map { max(.zero, Self.trial - boot.since($0.boot)) }
  }

  private mutating func believe(_ reading: Reading) {
    believed = reading
    doubted = nil
    ahead = nil
  }
}
