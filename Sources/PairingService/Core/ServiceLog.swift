internal import RegentPairing
internal import RegentPlatform

/// The log for operators.
///
/// The program decides on the format and the destination. Values may come from attackers. Secrets do not reach the log,
/// because every logged field is listed by name in the code.
package struct ServiceLog: Sendable {
  package enum Level: Sendable {
    case error, warning, info
  }

  private let write: @Sendable (Level, StaticString, [(String, String)]) -> Void

  /// Creates a log that passes each line to a closure.
  package init(_ write: @escaping @Sendable (Level, StaticString, [(String, String)]) -> Void) {
    self.write = write
  }

  /// A copy of this log with a rate limit: 200 lines of each event at once, then ten a second.
  ///
  /// Clients decide how often most events happen, and they must not fill the disk. Each event has its own limit, so
  /// that a frequent event does not suppress others. The number of lines left out is logged before the next line of the
  /// same event.
  package func capped(by clock: ServiceClock) -> ServiceLog {
    let meters = Locked([String: Meter]())
    return ServiceLog { [write] level, event, fields in
      let name = "\(event)"
      let leftOut = meters.withLock { $0[name, default: Meter()].take(at: clock.uptime) }
      guard let leftOut else { return }
      if leftOut > 0 {
        write(.warning, "lines-left-out", [("of", name), ("count", String(leftOut))])
      }
      write(level, event, fields)
    }
  }

  private struct Meter {
    private static let limit = RateLimit(perSecond: 10, burst: 200)
    private var meter = RateMeter()
    private var leftOut = 0

    /// Counts a log line against the rate limit of its event.
    ///
    /// - Returns: how many lines were left out before this one; nil when this one is left out, too.
    mutating func take(at now: Uptime) -> Int? {
      guard case .within = meter.take(of: Self.limit, at: now) else {
        leftOut += 1
        return nil
      }
      defer { leftOut = 0 }
      return leftOut
    }
  }

  /// A log that discards all lines.
  package static let silent = ServiceLog { _, _, _ in }

  /// Logs an event on which an operator need not act.
  package func info(_ event: StaticString, _ fields: (String, String)...) {
    write(.info, event, fields)
  }

  /// Logs an event that an operator should look at.
  package func warning(_ event: StaticString, _ fields: (String, String)...) {
    write(.warning, event, fields)
  }

  /// Logs a failure.
  package func error(_ event: StaticString, _ fields: (String, String)...) {
    write(.error, event, fields)
  }
}
