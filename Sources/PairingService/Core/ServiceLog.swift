internal import RegentPairing
internal import RegentPlatform

/// Where the service tells what happened to whoever runs it: the program decides how lines look and where they go.
///
/// Values may come from strangers; secrets have no way in, every value is named one by one.
package struct ServiceLog: Sendable {
  /// How much it matters.
  package enum Level: Sendable {
    case error, warning, info
  }

  private let write: @Sendable (Level, StaticString, [(String, String)]) -> Void

  /// Lines go to a closure.
  package init(_ write: @escaping @Sendable (Level, StaticString, [(String, String)]) -> Void) {
    self.write = write
  }

  /// The same with an end: of each event 200 lines at once, then ten a second.
  ///
  /// Strangers decide how often most things happen, and must not fill the disk with it. Each event counts for itself,
  /// so that none keeps another out; how many lines were left out is told with the next one that is written.
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

    /// - Returns: how many lines were left out before this one; nothing when it is left out, too.
    mutating func take(at now: Uptime) -> Int? {
      guard case .within = meter.take(of: Self.limit, at: now) else {
        leftOut += 1
        return nil
      }
      defer { leftOut = 0 }
      return leftOut
    }
  }

  /// Lines go nowhere.
  package static let silent = ServiceLog { _, _, _ in }

  /// Something that nobody has to do anything about.
  package func info(_ event: StaticString, _ fields: (String, String)...) {
    write(.info, event, fields)
  }

  /// Something that somebody should look at.
  package func warning(_ event: StaticString, _ fields: (String, String)...) {
    write(.warning, event, fields)
  }

  /// Something that does not work.
  package func error(_ event: StaticString, _ fields: (String, String)...) {
    write(.error, event, fields)
  }
}
