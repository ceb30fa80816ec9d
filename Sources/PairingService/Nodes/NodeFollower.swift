package import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Keeps what this node remembers right while other nodes write to the same store, and wakes who waits here.
///
/// With a store of its own a node has nobody to follow.
package struct NodeFollower: Sendable {
  /// The longest wait for news: a bell that is lost costs no more than that.
  private static let wait: Duration = .milliseconds(250)
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// How long whoever was alone until now may take to tell what it has kept.
  private static let arrival: Duration = .milliseconds(100)

  /// Reads what other nodes told that may count still, before anybody is answered here.
  ///
  /// A header that was used elsewhere before this node was started would be taken in its first second otherwise.
  ///
  /// - Returns: where ``run(from:)`` goes on.
  package func catchUp() async throws -> ChangePosition? {
    guard core.store.isShared else { return nil }
    let position = try await readToEnd(after: step(from: nil))
    try await Task.sleep(for: Self.arrival)
    return try await readToEnd(after: position)
  }

  /// Goes on until its task is cancelled; from a position on, when everything before it was looked at.
  package func run(from position: ChangePosition? = nil) async {
    guard core.store.isShared else { return }
    var position = position
    var isTold = false
    while !Task.isCancelled {
      do {
        // So much may have happened that it is quicker to look at what is here.
        if core.nodeNews.isLost, position != nil {
          noteMissed()
          position = nil
        }
        position = try await step(from: position)
        isTold = false
        core.nodeNews.note()
      } catch {
        if !isTold { core.log.warning("nodes-unheard", ("reason", "\(error)")) }
        isTold = true
        // Not all nodes at the same moment, when the store is back.
        try? await Task.sleep(for: .milliseconds(Int.random(in: 50...250)))
      }
    }
  }

  /// One look at the log of changes; without a position everything is looked at.
  ///
  /// - Returns: how far it came. When it throws, the same piece is read again: looking twice changes nothing.
  func step(from position: ChangePosition?) async throws -> ChangePosition {
    // First, because a clock that is wrong refuses what is good.
    try await NodeStatusExchange(core).once()
    guard let position else {
      let end = try await core.store.endOfChanges()
      try await lookAtEverything()
      return end
    }
    return try await read(after: position, waiting: Self.wait).position
  }

  private func readToEnd(after position: ChangePosition) async throws -> ChangePosition {
    var page = try await read(after: position, waiting: .zero)
    while page.hasMore { page = try await read(after: page.position, waiting: .zero) }
    return page.position
  }

  private func read(after position: ChangePosition, waiting span: Duration) async throws -> ChangePage {
    let page = try await core.store.changes(after: position, waiting: span)
    core.nonces.note(page.nonces, at: core.clock.now)
    core.limits.note(page.guesses)
    if page.isWhole {
      try await look(at: page.changes)
    } else {
      noteMissed()
      try await lookAtEverything()
    }
    return page
  }

  private func noteMissed() {
    core.nodeNews.noteMissed()
    core.log.warning("nodes-missed", ("hint", "everything in memory is looked at again"))
  }

  private func look(at changes: Set<StoreChange>) async throws {
    // What operators changed goes first: a code that is looked at may stand on it.
    if changes.contains(.provisioning) { try await core.refreshProvisioning() }
    if changes.contains(.signingKeys) { try await lookAtKeys() }
    var ids: [RegistrationID] = []
    for change in changes {
      switch change {
      // A code that nobody asked for here is read when somebody does.
      case .code(let id): if core.codes.cached(id) != nil { ids.append(id) }
      case .signIn(let requestor, let device): core.signInTransitions.noteChange(of: device, at: requestor)
      case .box(let device): core.boxDecisions.noteChange(of: device)
      case .provisioning, .signingKeys: continue
      }
    }
    try await core.codeLooks.lookAgain(at: ids)
    for id in ids { wake(.code(id)) }
  }

  private func wake(_ subject: Waiters.Subject) {
    core.waiters.wake(.device, of: subject)
    core.waiters.wake(.phone, of: subject)
  }

  private func lookAtEverything() async throws {
    try await core.refreshProvisioning()
    try await lookAtKeys()
    try await core.codeLooks.lookAgain(at: core.codes.ids)
    core.codes.noteUnknownSignIns()
    try await core.signInTransitions.lookAgainAtThoseHeld()
    core.boxDecisions.noteChanges()
    core.waiters.wakeAll()
  }

  private func lookAtKeys() async throws {
    try await core.mediaKeys.refresh()
    try await core.oauth.keys.refresh()
  }
}

extension ServiceCore {
  /// Whoever hears nothing of the others refuses what stands on more than the store's own rows.
  ///
  /// A key that was revoked elsewhere, or a rule that is gone, is good in memory still; and a node that stood still
  /// would take a refresh that its client has long repeated elsewhere for theft. "Not yet" is said all the same.
  func requireNews() throws(StoreError) {
    if nodeNews.isLate { throw .unavailable(reason: "nothing is heard of other nodes") }
  }
}

/// When this node last heard what others wrote.
package final class NodeNews: Sendable {
  /// After so long without a word from the store a node is not ready to serve.
  private static let patience: Duration = .seconds(2)
  /// After so long it begins anew.
  private static let memory: Duration = .seconds(300)
  private let heard: Locked<Uptime>
  private let clocks = Locked((ahead: Duration?.none, standing: NodeClocks.Standing.agrees))
  private let missed = Locked(0)
  private let silent = Locked<Set<NodeID>>([])
  private let clock: ServiceClock
  private let isNeeded: Bool

  init(_ store: any NodeStore, clock: ServiceClock) {
    self.clock = clock
    isNeeded = store.isShared
    heard = Locked(clock.uptime)
  }

  /// How much later this node's clock is than the store's; nothing until it has looked.
  var clockAhead: Duration? { clocks.withLock { $0.ahead } }

  /// How this node's clock stands among the others.
  package var clockStanding: NodeClocks.Standing { clocks.withLock { $0.standing } }

  /// Whether most others agree on another time; alone nobody tells a node so.
  package var isOutvoted: Bool { isNeeded && clockStanding == .outvoted }

  /// How far clocks are ahead of the store's: this node's, and those of others that are heard.
  ///
  /// - Returns: how it stands with that, when that is new.
  func note(clockAhead: Duration, others: [Duration]) -> NodeClocks.Standing? {
    clocks.withLock { clocks in
      let earlier = clocks.standing
      clocks = (clockAhead, NodeClocks.standing(of: clockAhead, among: others, after: earlier))
      return clocks.standing == earlier ? nil : clocks.standing
    }
  }

  /// Others that were killed or cut off.
  ///
  /// - Returns: those that were not known to be.
  func note(silent now: Set<NodeID>) -> Set<NodeID> {
    silent.withLock { silent in
      defer { silent = now }
      return now.subtracting(silent)
    }
  }

  /// Something was not heard, and everything in memory is looked at again.
  func noteMissed() { missed.withLock { $0 += 1 } }

  /// What this node knows of the others, as Prometheus reads it; nothing where there are none.
  package var exposition: String {
    guard isNeeded else { return "" }
    let (ahead, standing) = clocks.withLock { $0 }
    return Self.exposition(
      missed: missed.withLock { $0 }, silent: silent.withLock { $0.count }, clockAhead: ahead ?? .zero, standing)
  }

  package static func exposition(
    missed: Int, silent: Int, clockAhead: Duration, _ standing: NodeClocks.Standing
  ) -> String {
    "# HELP regent_nodes_missed_total How often something of other nodes was missed, and everything looked at again.\n"
      + "# TYPE regent_nodes_missed_total counter\nregent_nodes_missed_total \(missed)\n"
      + "# HELP regent_nodes_silent Other nodes that say nothing and have not been stopped: killed, or cut off.\n"
      + "# TYPE regent_nodes_silent gauge\nregent_nodes_silent \(silent)\n"
      + "# HELP regent_clock_off_seconds How much later it is by this node's clock than by the database's.\n"
      + "# TYPE regent_clock_off_seconds gauge\n"
      + "regent_clock_off_seconds \(Double(clockAhead.wholeMilliseconds) / 1000)\n"
      + "# HELP regent_clock_outvoted Whether most others agree on another time: the node is out of service then.\n"
      + "# TYPE regent_clock_outvoted gauge\nregent_clock_outvoted \(standing == .outvoted ? 1 : 0)\n"
  }

  func note() { heard.withLock { $0 = clock.uptime } }

  /// Whether nothing was heard for so long that nothing in memory counts.
  var isLost: Bool { isNeeded && clock.uptime.since(heard.withLock { $0 }) > Self.memory }

  /// Whether nothing was heard for too long: memory may be outdated then.
  package var isLate: Bool { isNeeded && clock.uptime.since(heard.withLock { $0 }) > Self.patience }
}
