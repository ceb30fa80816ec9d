internal import RegentPairing
internal import PairingStore

/// The periodic work of the service: it deletes expired rows in small steps, and stores the counters.
package struct Upkeep: Sendable {
  private static let interval: Duration = .seconds(5)
  /// The number of rows that one transaction deletes: few enough that no request is noticeably delayed.
  private static let step = 200
  /// The time between two writes of the counters; a crash loses at most this much.
  ///
  /// Writing them every five seconds would wear out a box's flash memory for mere statistics.
  private static let keepingPause: Duration = .seconds(60)
  /// The precision with which the last uses of key pairs are stored.
  ///
  /// Key pairs of apps in the field are used all day, so an hour suffices.
  private static let keyGrain: Duration = .seconds(3600)
  /// How long one node holds the duty of deleting expired rows for all nodes.
  ///
  /// When that node is killed, another takes over after this time.
  private static let duty: Duration = .seconds(30)
  /// The text that is stored under `running` while the service runs.
  static let isRunning = "yes"
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// Runs the periodic work until its task is cancelled.
  package func run() async {
    // Nil at the start, so that the counters are stored at least once. The time since when they count then survives a
    // restart.
    var kept: DayNumbers?
    var uses: [PublicKey: Instant]?
    var nonces: String?
    var assertions: String?
    var believed: Instant?
    var doubts = false
    var due = core.clock.uptime + Self.keepingPause
    var recount = core.clock.uptime + Self.keyGrain
    var isMarked = false
    await core.readMonitoredFacts()
    while !Task.isCancelled {
      // The marker is written again until that succeeds, because the disk may be full at the start.
      if !isMarked { isMarked = await keep(Self.isRunning, as: .running) }
      await once()
      await core.audit.tellCounted()
      core.storeTrouble.tell()
      tellDoubt(&doubts)
      if core.clock.uptime >= due {
        due = core.clock.uptime + Self.keepingPause
        kept = await keepNumbers(unless: kept)
        uses = await keepKeyUses(unless: uses)
        nonces = await keepUsed(core.nonces.text(at: core.clock.now), as: .nonces, unless: nonces)
        assertions = await keepUsed(
          core.oauth.assertions.text(at: core.clock.now), as: .assertions, unless: assertions)
        believed = await keepTime(unless: believed)
        await core.readMonitoredFacts()
      }
      if core.clock.uptime >= recount {
        recount = core.clock.uptime + Self.keyGrain
        await recountPasswordForms()
      }
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Stores all counters that are in memory, before the process ends or the store is copied.
  package func keepEverything() async {
    await core.audit.tellCounted(all: true)
    await keepNumbers(unless: nil)
    await keepKeyUses(unless: nil)
    await keepUsed(core.nonces.text(at: core.clock.now), as: .nonces, unless: nil)
    await keepUsed(core.oauth.assertions.text(at: core.clock.now), as: .assertions, unless: nil)
    await keepTime(unless: nil)
  }

  /// Stores all counters at the end of the process, and that the process ended properly.
  package func stop() async {
    await keepEverything()
    _ = await keep("", as: .running)
  }

  /// Logs once that the machine's clock is suspected to be ahead, and once that it is trusted again.
  private func tellDoubt(_ doubts: inout Bool) {
    let doubt = core.age.doubt
    guard (doubt != nil) != doubts else { return }
    doubts = doubt != nil
    if let doubt {
      core.log.warning(
        "clock-ahead", ("seconds", "\(doubt.ahead.components.seconds)"),
        ("hint", "nothing expires until the clock has been steady for a day: run regentctl doctor"))
    } else {
      core.log.info("clock-believed")
    }
  }

  /// Reads again which password-hash formats are still in use.
  ///
  /// When the last hash of a format is gone, sign-ins at that provider no longer compute that format and become a
  /// little faster.
  private func recountPasswordForms() async {
    guard !core.passwordForms.isEmpty else { return }
    do {
      try await core.passwordForms.recount()
    } catch {
      core.warnOfUpkeep(error)
    }
  }

  /// Stores the used nonces or assertions that could be replayed after a restart, unless they are already stored.
  @discardableResult
  private func keepUsed(_ text: String, as kind: StoredCounters, unless kept: String?) async -> String? {
    // Most services have no such nonces or assertions, and need no row for them.
    guard text != kept ?? "{}" else { return kept }
    return await keep(text, as: kind) ? text : kept
  }

  /// Stores the time that the service accepts as correct, unless it has hardly changed.
  @discardableResult
  private func keepTime(unless kept: Instant?) async -> Instant? {
    let now = core.age.now
    if let kept, kept <= now, now.since(kept) < Self.keyGrain { return kept }
    return await keep("\(now.milliseconds)", as: .clock) ? now : kept
  }

  /// Stores the counters of the day, unless they are already stored.
  ///
  /// - Returns: the counters that are stored now.
  @discardableResult
  private func keepNumbers(unless kept: DayNumbers?) async -> DayNumbers? {
    let now = core.clock.now
    let today = core.metrics.today(at: now)
    guard today != kept else { return kept }
    return await keep(today.text(at: now), as: .day) ? today : kept
  }

  /// Stores the times at which key pairs last signed a request, unless they have hardly changed.
  ///
  /// - Returns: the times that are stored now.
  @discardableResult
  private func keepKeyUses(unless kept: [PublicKey: Instant]?) async -> [PublicKey: Instant]? {
    let uses = core.keyUses.all(of: core.provisioning.now.records.keyPairs.keys)
    let isKnown = uses.allSatisfy { key, time in
      kept?[key].map { time.since($0) < Self.keyGrain } ?? false
    }
    await learnKeyUses()
    guard !isKnown, uses != kept else { return kept }
    return await keep(KeyUseTimes.text(of: uses), as: .keys) ? uses : kept
  }

  /// Merges the times that other nodes have stored, so that a key pair that is used at another node counts as used.
  private func learnKeyUses() async {
    guard core.keeper != nil else { return }
    do {
      for text in try await core.store.keptNumbersOfNodes(.keys).values { core.keyUses.learn(text) }
    } catch {
      core.warnOfUpkeep(error)
    }
  }

  private func keep(_ text: String, as kind: StoredCounters) async -> Bool {
    do {
      try await core.store.keepNumbers(text, as: kind, of: core.keeper)
      return true
    } catch {
      core.warnOfUpkeep(error)
      return false
    }
  }

  /// Whether this node currently has the duty of deleting expired rows for all nodes.
  private func forgetsForAll(at now: Instant) async throws(StoreError) -> Bool {
    guard let node = core.options.node else { return true }
    return try await core.store.take(.upkeep, as: node, for: Self.duty, at: now)
  }

  /// Runs the periodic work that is due now.
  package func once() async {
    let now = core.clock.now
    core.metrics.count(.codesExpired, core.codes.sweep(at: now))
    core.nonces.sweep(keeping: core.provisioning.now.callKeys.keys, at: now)
    // Ages are not computed from the wall clock: rows that are deleted because of a wrong clock do not come back.
    let age = core.age.now
    do {
      try await core.codeTransitions.forgetGiven()
      guard try await forgetsForAll(at: now) else { return }
      while try await core.store.forgetExpired(at: age, limit: Self.step) == Self.step {
        if Task.isCancelled { return }
      }
      while try await core.store.forgetAudit(
        beyond: core.options.auditRetention, at: age, limit: Self.step) == Self.step
      {
        if Task.isCancelled { return }
      }
      try await core.mediaKeys.retireReplaced(
        tokenLifetime: core.options.mediaTokenLifetime, at: age)
      try await core.oauth.keys.retireReplaced(
        tokenLifetime: core.options.oauthTokenLifetime, at: age)
    } catch {
      core.warnOfUpkeep(error)
    }
  }
}

extension ServiceCore {
  /// Logs that periodic work failed.
  ///
  /// An outage of the store is not logged here, because ``StoreTrouble`` logs it.
  func warnOfUpkeep(_ error: any Error) {
    if let error = error as? StoreError, error.outage != nil { return storeTrouble.note(error, isCall: false) }
    log.warning("upkeep", ("reason", "\(error)"))
  }
}
