package import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// What the log says while the store does not do what calls want of it: a line when that begins, one a minute with how
/// many calls it were, and one when it is over.
///
/// Each call that is refused would say the same, and in an outage there are thousands of them.
package final class StoreTrouble: Sendable {
  private struct Episode {
    let began: Uptime
    var toldAt: Uptime
    var told: Set<Kind>
    var calls = 1
    var untold = 0
    var reason: String
  }

  fileprivate enum Kind { case full, away, unknown }

  private static let pause: Duration = .seconds(60)
  private let episode = Locked<Episode?>(nil)
  private let log: ServiceLog
  private let clock: ServiceClock

  init(_ log: ServiceLog, clock: ServiceClock) {
    self.log = log
    self.clock = clock
  }

  /// The store's own trouble: the caller gets a 503 that names no file.
  package func note(_ error: StoreError) {
    guard let kind = Kind(error) else { return }
    let (now, reason) = (clock.uptime, error.description)
    let isNew = episode.withLock { episode in
      guard var known = episode else {
        episode = Episode(began: now, toldAt: now, told: [kind], reason: reason)
        return true
      }
      known.calls += 1
      known.reason = reason
      let isNew = known.told.insert(kind).inserted
      if !isNew { known.untold += 1 }
      episode = known
      return isNew
    }
    if isNew { log.error("store", ("reason", reason)) } else { tell() }
  }

  /// Says once a minute how many calls were refused; that it is over, when none was.
  func tell() {
    let now = clock.uptime
    let told = episode.withLock { episode -> Episode? in
      guard let known = episode, now.since(known.toldAt) >= Self.pause else { return nil }
      episode?.toldAt = now
      episode?.untold = 0
      if known.untold == 0 { episode = nil }
      return known
    }
    guard let told else { return }
    if told.untold > 0 {
      log.error(
        "store", ("reason", told.reason), ("calls", "\(told.untold)"), ("seconds", Self.seconds(told.toldAt, now)))
    } else {
      log.info("store-back", ("calls", "\(told.calls)"), ("seconds", Self.seconds(told.began, now)))
    }
  }

  private static func seconds(_ start: Uptime, _ end: Uptime) -> String { "\(end.since(start).components.seconds)" }
}

extension StoreTrouble.Kind {
  /// Nothing when the store has only refused something.
  fileprivate init?(_ error: StoreError) {
    switch error {
    case .diskFull: self = .full
    case .unavailable: self = .away
    case .unknownOutcome: self = .unknown
    default: return nil
    }
  }
}
