package import RegentPairing
internal import RegentPlatform

/// The wall clock and the boot clock of the service.
///
/// All other code gets the time from here or as an argument, so that tests can set it.
package struct ServiceClock: Sendable {
  private let wall: @Sendable () -> Instant
  private let boot: @Sendable () -> Uptime

  /// The clocks of the machine.
  package static let machine = ServiceClock(
    wall: { Instant(milliseconds: Clocks.wallMilliseconds()) },
    boot: { Uptime(milliseconds: Int64(Clocks.bootNanoseconds() / 1_000_000)) })

  /// Makes clocks that tests can set.
  package init(
    wall: @escaping @Sendable () -> Instant, boot: @escaping @Sendable () -> Uptime
  ) {
    self.wall = wall
    self.boot = boot
  }

  /// The present time of the wall clock, for expiry times.
  package var now: Instant { wall() }

  /// The present time of the boot clock, for intervals and rate limits.
  ///
  /// Setting the wall clock does not change it.
  package var uptime: Uptime { boot() }
}
