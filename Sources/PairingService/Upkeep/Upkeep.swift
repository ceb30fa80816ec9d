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
  /// How long a node that ended without a word keeps the others from forgetting.
  private static let duty: Duration = .seconds(30)
  /// What `running` says from the start of the service to its stop.
  static let isRunning = "yes"
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// Goes on until its task is cancelled.
  package func run() async {
    // At least once, so that "since when" outlives a restart before anything was counted.
    var kept: DayNumbers?
    var uses: [PublicKey: Instant]?
    var nonces: String?
    var assertions: String?
    var believed: Instant?
    var doubts = false
    var due = core.clock.uptime + Self.keepingPause
    var recount = core.clock.uptime + Self.keyGrain
    var isMarked = false
    while !Task.isCancelled {
      // Tried until it is written: a disk may be full at the start.
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
      }
      if core.clock.uptime >= recount {
        recount = core.clock.uptime + Self.keyGrain
        await recountPasswordForms()
      }
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Keeps all that is counted in memory, for who is about to end or to copy the store.
  package func keepEverything() async {
    await core.audit.tellCounted(all: true)
    await keepNumbers(unless: nil)
    await keepKeyUses(unless: nil)
    await keepUsed(core.nonces.text(at: core.clock.now), as: .nonces, unless: nil)
    await keepUsed(core.oauth.assertions.text(at: core.clock.now), as: .assertions, unless: nil)
    await keepTime(unless: nil)
  }

  /// Keeps everything at the end of the process, and that it ended by itself.
  package func stop() async {
    await keepEverything()
    _ = await keep("", as: .running)
  }

  /// A clock that is doubted is told once, and that it is believed again.
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

  /// Whoever has an imported password signs in a little sooner when the last of its kind is gone.
  private func recountPasswordForms() async {
    guard !core.passwordForms.isEmpty else { return }
    do {
      try await core.passwordForms.recount()
    } catch {
      core.warnOfUpkeep(error)
    }
  }

  /// Keeps what was used and may come again after a restart, unless it is this.
  @discardableResult
  private func keepUsed(_ text: String, as kind: StoredCounters, unless kept: String?) async -> String? {
    // Most services have none to keep, and need no row for that.
    guard text != kept ?? "{}" else { return kept }
    return await keep(text, as: kind) ? text : kept
  }

  /// Keeps the time that is believed, unless it is hardly different.
  @discardableResult
  private func keepTime(unless kept: Instant?) async -> Instant? {
    let now = core.age.now
    if let kept, kept <= now, now.since(kept) < Self.keyGrain { return kept }
    return await keep("\(now.milliseconds)", as: .clock) ? now : kept
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
    await learnKeyUses()
    guard !isKnown, uses != kept else { return kept }
    return await keep(KeyUseTimes.text(of: uses), as: .keys) ? uses : kept
  }

  /// What other nodes know of keys: one that is used there is in use.
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

  /// Whether this node forgets for all that share the store.
  private func forgetsForAll(at now: Instant) async throws(StoreError) -> Bool {
    guard let node = core.options.node else { return true }
    return try await core.store.take(.upkeep, as: node, for: Self.duty, at: now)
  }

  /// Everything that is due now.
  package func once() async {
    let now = core.clock.now
    core.metrics.count(.codesExpired, core.codes.sweep(at: now))
    core.nonces.sweep(keeping: core.provisioning.now.callKeys.keys, at: now)
    // Not by the machine's clock: what is deleted does not come back when the clock is right again.
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
  /// What is to be done beside calls was not done; an outage is told by the calls' lines, or begins one.
  func warnOfUpkeep(_ error: any Error) {
    if let error = error as? StoreError, error.outage != nil { return storeTrouble.note(error, isCall: false) }
    log.warning("upkeep", ("reason", "\(error)"))
  }
}
