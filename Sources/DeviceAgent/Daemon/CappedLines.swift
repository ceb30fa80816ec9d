import CommandKit
import RegentPairing
import RegentPlatform

/// The daemon's lines for the log, so many of each user and app: who asks in a loop must neither fill the disk nor have
/// the journal drop what others did.
///
/// How many were left out is told with the next line of the same one.
final class CappedLines: Sendable {
  /// Of each 100 lines at once, then one a second.
  static let limit = RateLimit(perSecond: 1, burst: 100)
  /// Beyond so many the newcomers have one limit together.
  static let most = 64

  private struct Meter {
    var meter = RateMeter()
    var leftOut = 0
  }

  private let meters = Locked([String: Meter]())
  private let clock: @Sendable () -> UInt64
  private let write: @Sendable (String) -> Void

  init(
    clock: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }, write: @escaping @Sendable (String) -> Void
  ) {
    self.clock = clock
    self.write = write
  }

  /// Writes a line that `who` is the reason of; nobody for root and the daemon's own user, who have no limit.
  func note(_ line: String, of who: String?) {
    guard let who else { return write(line) }
    let now = Uptime(milliseconds: Int64(clock() / 1_000_000))
    let (name, leftOut) = meters.withLock { meters -> (String, Int?) in
      let name = meters[who] != nil || meters.count < Self.most ? who : "others"
      var own = meters[name] ?? Meter()
      defer { meters[name] = own }
      guard case .within = own.meter.take(of: Self.limit, at: now) else {
        own.leftOut += 1
        return (name, nil)
      }
      defer { own.leftOut = 0 }
      return (name, own.leftOut)
    }
    guard let leftOut else { return }
    if leftOut > 0 { write("\(leftOut) more lines about \(name) were not written") }
    write(line)
  }
}
