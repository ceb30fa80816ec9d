internal import Pairing
internal import PairingStore

/// What the service does by itself: it forgets what has come to its end, in small steps, and keeps the day's numbers.
package struct Upkeep: Sendable {
  private static let interval: Duration = .seconds(5)
  /// Rows for one transaction: short enough that no answer waits for it noticeably.
  private static let step = 200
  /// How much of the numbers a crash may cost; every five seconds would wear a box's flash out for a statistic.
  private static let keepingPause: Duration = .seconds(60)
  private let core: ServiceCore

  /// The upkeep of a service.
  package init(_ core: ServiceCore) { self.core = core }

  /// Goes on until its task is cancelled.
  package func run() async {
    // At least once, so that "since when" outlives a restart before anything was counted.
    var kept: DayNumbers?
    var due = core.clock.uptime + Self.keepingPause
    while !Task.isCancelled {
      await once()
      if core.clock.uptime >= due {
        due = core.clock.uptime + Self.keepingPause
        kept = await keepNumbers(unless: kept)
      }
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Keeps the numbers of the day, unless they are these.
  ///
  /// - Returns: those that are kept now.
  @discardableResult
  package func keepNumbers(unless kept: DayNumbers?) async -> DayNumbers? {
    let today = core.metrics.today(at: core.clock.now)
    guard today != kept else { return kept }
    do {
      try await core.store.keepNumbers(today.text)
      return today
    } catch {
      core.log.warning("upkeep", ("reason", "\(error)"))
      return kept
    }
  }

  /// Everything that is due now.
  package func once() async {
    let now = core.clock.now
    core.metrics.count(.codesExpired, core.codes.sweep(at: now))
    do {
      while try await core.store.forgetExpired(at: now, limit: Self.step) == Self.step {
        if Task.isCancelled { return }
      }
      try await core.mediaKeys.retireReplaced(
        tokenLifetime: core.options.mediaTokenLifetime, at: now)
    } catch {
      core.log.warning("upkeep", ("reason", "\(error)"))
    }
  }
}
