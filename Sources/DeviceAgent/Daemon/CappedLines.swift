import CommandKit
import RegentPairing
import RegentPlatform

/// The daemon's log, with a rate limit for each user and app.
///
/// A program that sends requests in a loop can neither fill the disk nor make the journal drop the lines about others.
///
/// The next line about the same user or app says how many lines were left out.
final class CappedLines: Sendable {
  /// The limit of log lines for each user and app: 100 lines at once, then one a second.
  static let limit = RateLimit(perSecond: 1, burst: 100)
  /// The maximum number of users and apps with a limit of their own.
  ///
  /// All further users and apps share one limit.
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

  /// Writes a line about the user or app `who`.
  ///
  /// Lines about root and the daemon's own user have no limit; for them, `who` is `nil`.
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
