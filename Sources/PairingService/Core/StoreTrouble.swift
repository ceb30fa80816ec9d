package import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Logs failures of the store without one line for each refused request, of which there are thousands in an outage.
///
/// It writes one line at the beginning, one a minute with the number of refused requests, and one when no request has
/// failed for a minute.
package final class StoreTrouble: Sendable {
  private struct Episode {
    let began: Uptime
    /// The time at which the present outage began; ten seconds without a failure end an outage.
    var standsSince: Uptime
    var last: Uptime
    var toldAt: Uptime
    var told: Set<StoreError.Outage>
    var calls = 0
    var untold = 0
    var reason: String
  }

  private static let pause: Duration = .seconds(60)
  /// The time within which most outages end, because most are fail-overs.
  ///
  /// After as long without failures, the next failure counts as a new outage.
  private static let beginning: Duration = .seconds(10)
  private let episode = Locked<Episode?>(nil)
  private let log: ServiceLog
  private let clock: ServiceClock

  init(_ log: ServiceLog, clock: ServiceClock) {
    self.log = log
    self.clock = clock
  }

  /// Notes an error of the store.
  ///
  /// The client gets a 503 that names no file.
  ///
  /// `isCall` is false for the service's own accesses to the store, which repeat every few seconds and are not counted
  /// as refused requests.
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

  /// The `Retry-After` for a refused request: one second while the outage has just begun, so that an app need not show
  /// an error.
  ///
  /// Later it is longer, because all boxes come back at the same time.
  func pause(after error: CallError) -> Duration? {
    guard error.isOutage else { return error.retryAfter }
    let now = clock.uptime
    let isBeginning = episode.withLock { $0.map { now.since($0.standsSince) < Self.beginning } ?? false }
    return isBeginning ? .seconds(1) : error.retryAfter
  }

  /// Logs the number of refused requests, once a minute, or that the outage is over, after a minute without failures.
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
