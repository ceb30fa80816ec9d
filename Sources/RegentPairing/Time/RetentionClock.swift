/// The clock by which old rows are deleted.
///
/// A wall clock that is a month ahead for ten seconds must not delete a month's rows, because deleted rows do not come
/// back when the clock is corrected. So this clock continues from the last trusted time at the rate of the boot clock.
/// If the wall clock jumps forward, it is trusted only after it has run evenly for a day. Until then the age of rows is
/// measured by the earlier time, so fewer rows are deleted. A wall clock that jumps back is trusted at once.
public struct RetentionClock: Hashable, Sendable {
  /// How far the wall clock may step forward without being doubted.
  ///
  /// Time services correct clocks in small steps.
  public static let tolerance: Duration = .seconds(300)
  /// How long a machine may be off without its wall clock being doubted at start.
  public static let pause: Duration = .seconds(86_400)
  /// How long a doubted wall clock must run evenly until it is trusted.
  public static let trial: Duration = .seconds(86_400)

  /// The wall clock and the boot clock at one moment.
  private struct Reading: Hashable {
    var wall: Instant
    var boot: Uptime

    /// The wall time at `now`: the wall time of this reading plus the time that the boot clock counted since.
    func wall(at now: Uptime) -> Instant { wall + now.since(boot) }
  }

  private var believed: Reading
  private var doubted: Reading?
  /// How far the wall clock is ahead of the trusted time; nil while the wall clock is trusted.
  public private(set) var ahead: Duration?

  /// Creates a retention clock that continues from the last trusted time.
  ///
  /// - Parameters:
  ///   - kept: the last trusted time that was stored; nil if there is none.
  ///   - wall: the wall clock's time now.
  ///   - boot: the boot clock's time now.
  public init(kept: Instant?, wall: Instant, boot: Uptime) {
    believed = Reading(wall: wall, boot: boot)
    guard let kept, wall.since(kept) > Self.pause else { return }
    believed.wall = kept
    _ = time(wall: wall, boot: boot)
  }

  /// The time by which the age of rows is measured now, never later than the wall clock.
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

  /// After how long the wall clock will be trusted if it continues to run evenly; nil if it is trusted now.
  public func trialLeft(at boot: Uptime) -> Duration? {
    doubted.map { max(.zero, Self.trial - boot.since($0.boot)) }
  }

  private mutating func believe(_ reading: Reading) {
    believed = reading
    doubted = nil
    ahead = nil
  }
}
