package import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// What the log says while the store does not do what calls want of it: a line when that begins, one a minute with how
/// many calls it were, and one when there was no more of it for a minute.
///
/// Each call that is refused would say the same, and in an outage there are thousands of them.
package final class StoreTrouble: Sendable {
  private struct Episode {
    let began: Uptime
    /// Since when it goes on without a longer pause.
    var standsSince: Uptime
    var last: Uptime
    var toldAt: Uptime
    var told: Set<StoreError.Outage>
    var calls = 0
    var untold = 0
    var reason: String
  }

  private static let pause: Duration = .seconds(60)
  /// Mostly it is a fail-over, and over within so long; after as long without trouble another one begins.
  private static let beginning: Duration = .seconds(10)
  private let episode = Locked<Episode?>(nil)
  private let log: ServiceLog
  private let clock: ServiceClock

  init(_ log: ServiceLog, clock: ServiceClock) {
    self.log = log
    self.clock = clock
  }

  /// The store's own trouble: the caller gets a 503 that names no file.
  ///
  /// What asks every few seconds by itself is no call.
  package func note(_ error: StoreError, isCall: Bool = true) {
    guard let outage = error.outage else { return }
    let (now, reason) = (clock.uptime, error.description)
    let isNew = episode.withLock { episode in
      var known =
        episode ?? Episode(began: now, standsSince: now, last: now, toldAt: now, told: [], reason: reason)
      if now.since(known.last) >= Self.beginning { known.standsSince = now }
      known.last = now
      known.reason = reason
      let isNew = known.told.insert(outage).inserted
      if isCall { known.calls += 1 }
      if isCall, !isNew { known.untold += 1 }
      episode = known
      return isNew
    }
    if isNew { log.error("store", ("reason", reason)) } else { tell() }
  }

  /// When a call may be made again that was refused so: soon while the trouble has just begun, so that an app need not
  /// tell anybody of it; later on not so soon, as all boxes come back.
  func pause(after error: CallError) -> Duration? {
    guard error.isOutage else { return error.retryAfter }
    let now = clock.uptime
    let isBeginning = episode.withLock { $0.map { now.since($0.standsSince) < Self.beginning } ?? false }
    return isBeginning ? .seconds(1) : error.retryAfter
  }

  /// Says once a minute how many calls were refused; that it is over, when there was nothing for as long.
  func tell() {
    let now = clock.uptime
    let told = episode.withLock { episode -> Episode? in
      guard let known = episode else { return nil }
      if now.since(known.last) >= Self.pause {
        episode = nil
        return known
      }
      guard known.untold > 0, now.since(known.toldAt) >= Self.pause else { return nil }
      episode?.toldAt = now
      episode?.untold = 0
      return known
    }
    guard let told else { return }
    if now.since(told.last) >= Self.pause {
      log.info("store-back", ("calls", "\(told.calls)"), ("seconds", Self.seconds(told.began, told.last)))
    } else {
      log.error(
        "store", ("reason", told.reason), ("calls", "\(told.untold)"), ("seconds", Self.seconds(told.toldAt, now)))
    }
  }

  private static func seconds(_ start: Uptime, _ end: Uptime) -> String { "\(end.since(start).components.seconds)" }
}
