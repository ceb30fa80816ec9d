internal import Pairing
internal import PairingStore

/// What the service does by itself: it forgets what has come to its end, in small steps.
package struct Upkeep: Sendable {
  private static let interval: Duration = .seconds(5)
  /// Rows for one transaction: short enough that no answer waits for it noticeably.
  private static let step = 200
  private let core: ServiceCore

  /// The upkeep of a service.
  package init(_ core: ServiceCore) { self.core = core }

  /// Goes on until its task is cancelled.
  package func run() async {
    while !Task.isCancelled {
      await once()
      try? await Task.sleep(for: Self.interval)
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
