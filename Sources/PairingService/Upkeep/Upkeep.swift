internal import RegentPairing
internal import PairingStore

/// What the service does by itself: it forgets what has come to its end, in small steps, and keeps the day's numbers.
package struct Upkeep: Sendable {
  private static let interval: Duration = .seconds(5)
  /// Rows for one transaction: short enough that no answer waits for it noticeably.
  private static let step = 200
  /// How much of the numbers a crash may cost; every five seconds would wear a box's flash out for a statistic.
  private static let keepingPause: Duration = .seconds(60)
  /// Keys of apps in the field are used all day: when, to the hour, is enough to be written down.
  private static let keyGrain: Duration = .seconds(3600)
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// Goes on until its task is cancelled.
  package func run() async {
    // At least once, so that "since when" outlives a restart before anything was counted.
    var kept: DayNumbers?
    var uses: [PublicKey: Instant]?
    var due = core.clock.uptime + Self.keepingPause
    while !Task.isCancelled {
      await once()
      if core.clock.uptime >= due {
        due = core.clock.uptime + Self.keepingPause
        kept = await keepNumbers(unless: kept)
        uses = await keepKeyUses(unless: uses)
      }
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Keeps all that is counted in memory, for who is about to end or to copy the store.
  package func keepEverything() async {
    await keepNumbers(unless: nil)
    await keepKeyUses(unless: nil)
  }

  /// Keeps the numbers of the day, unless they are these.
  ///
  /// - Returns: those that are kept now.
  @discardableResult
  private func keepNumbers(unless kept: DayNumbers?) async -> DayNumbers? {
    let now = core.clock.now
    let today = core.metrics.today(at: now)
    guard today != kept else { return kept }
    return await keep(today.text(at: now), as: .day) ? today : kept
  }

  /// Keeps when keys were used, unless that is hardly different.
  ///
  /// - Returns: what is kept now.
  @discardableResult
  private func keepKeyUses(unless kept: [PublicKey: Instant]?) async -> [PublicKey: Instant]? {
    let uses = core.keyUses.all(of: core.provisioning.now.records.keyPairs.keys)
    let isKnown = uses.allSatisfy { key, time in
      kept?[key].map { time.since($0) < Self.keyGrain } ?? false
    }
    guard !isKnown, uses != kept else { return kept }
    return await keep(KeyUseTimes.text(of: uses), as: .keys) ? uses : kept
  }

  private func keep(_ text: String, as kind: StoredCounters) async -> Bool {
    do {
      try await core.store.keepNumbers(text, as: kind)
      return true
    } catch {
      core.log.warning("upkeep", ("reason", "\(error)"))
      return false
    }
  }

  /// Everything that is due now.
  package func once() async {
    let now = core.clock.now
    core.metrics.count(.codesExpired, core.codes.sweep(at: now))
    do {
      try await core.codeTransitions.forgetGiven()
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
