package import RegentPairing
internal import RegentPlatform

/// The two clocks of the service; every rule below takes the time as an argument, this is where it comes from.
package struct ServiceClock: Sendable {
  private let wall: @Sendable () -> Instant
  private let boot: @Sendable () -> Uptime

  /// The machine's clocks.
  package static let machine = ServiceClock(
    wall: { Instant(milliseconds: Clocks.wallMilliseconds()) },
    boot: { Uptime(milliseconds: Int64(Clocks.bootNanoseconds() / 1_000_000)) })

  /// Clocks of one's own, for tests.
  package init(
    wall: @escaping @Sendable () -> Instant, boot: @escaping @Sendable () -> Uptime
  ) {
    self.wall = wall
    self.boot = boot
  }

  /// For expiries.
  package var now: Instant { wall() }

  /// For intervals and limits.
  package var uptime: Uptime { boot() }
}
