package import PairingStore
internal import RegentPairing
internal import RegentPlatform

/// Updates this node's memory after changes that other nodes write to the shared store, and completes the long polls
/// that they concern.
///
/// When this process is the only node, it does nothing.
package struct NodeFollower: Sendable {
  /// The longest wait for a notification of changes.
  ///
  /// After it the changes are read anyway, so a lost notification delays a change by no more than this.
  private static let wait: Duration = .milliseconds(250)
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  /// How long another node may take to write the nonces and guesses that it has not shared yet, because it was the only
  /// node until now.
  private static let arrival: Duration = .milliseconds(100)

  /// Reads what other nodes wrote recently, before this node answers any request.
  ///
  /// Without this, the node would in its first second accept a signed header that was already used at another node.
  ///
  /// - Returns: the position for ``run(from:)``.
  package func catchUp() async throws -> ChangePosition? {
    guard core.store.isShared else { return nil }
    let position = try await readToEnd(after: step(from: nil))
    try await Task.sleep(for: Self.arrival)
    return try await readToEnd(after: position)
  }

  /// Follows the changes of other nodes until its task is cancelled.
  ///
  /// With a position, it starts there. Without one, it first reads everything again.
  package func run(from position: ChangePosition? = nil) async {
    guard core.store.isShared else { return }
    var position = position
    var isTold = false
    while !Task.isCancelled {
      do {
        // After a long interruption, rereading all records in memory is quicker than reading all changes.
        if core.nodeChangeFeed.isLost, position != nil {
          noteMissed()
          position = nil
        }
        position = try await step(from: position)
        isTold = false
        core.nodeChangeFeed.note()
      } catch {
        if !isTold { core.log.warning("nodes-unheard", ("reason", "\(error)")) }
        isTold = true
        // The pause is random, so that the nodes do not all return at the same moment when the store is back.
        try? await Task.sleep(for: .milliseconds(Int.random(in: 50...250)))
      }
    }
  }

  /// Reads the change log once; without a position, rereads everything in memory.
  ///
  /// - Returns: the position reached. When this throws, the caller repeats the same step, which does no harm.
  func step(from position: ChangePosition?) async throws -> ChangePosition {
    // The clocks are compared first, because a node with a wrong clock refuses valid requests.
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
    core.nodeChangeFeed.noteMissed()
    core.log.warning("nodes-missed", ("hint", "everything in memory is looked at again"))
  }

  private func look(at changes: Set<StoreChange>) async throws {
    // Provisioning records are reloaded first, because codes may depend on them.
    if changes.contains(.provisioning) { try await core.refreshProvisioning() }
    if changes.contains(.signingKeys) { try await lookAtKeys() }
    var ids: [RegistrationID] = []
    for change in changes {
      switch change {
      // Only codes in memory are read again. Others are read when a client asks for them.
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
  /// Throws while the change feed is stale, to refuse requests that depend on more than rows of the store.
  ///
  /// A key that was revoked at another node, or a rule that was deleted there, is still valid in this node's memory. A
  /// node that was suspended would also treat a refresh token as stolen that its client has since used at another node.
  /// Polls still get "not yet".
  func requireRecentChanges() throws(StoreError) {
    if nodeChangeFeed.isLate { throw .unavailable(reason: "this node cannot read the changes of the other nodes") }
  }
}

/// The state of this node's change feed (its reading of other nodes' changes) and of its clock.
package final class NodeChangeFeed: Sendable {
  /// How long the change feed may be without a successful read before the node is not ready to serve.
  private static let patience: Duration = .seconds(2)
  /// How long the change feed may be without a successful read before everything in memory must be read again.
  private static let memory: Duration = .seconds(300)
  private let heard: Locked<Uptime>
  private let clocks = Locked((ahead: Duration?.none, standing: NodeClocks.Verdict.agrees))
  private let missed = Locked(0)
  private let silent = Locked<Set<NodeID>>([])
  private let clock: ServiceClock
  private let isNeeded: Bool

  init(_ store: any NodeStore, clock: ServiceClock) {
    self.clock = clock
    isNeeded = store.isShared
    heard = Locked(clock.uptime)
  }

  /// How far this node's clock is ahead of the database's; nil before the first comparison.
  var clockAhead: Duration? { clocks.withLock { $0.ahead } }

  /// The result of comparing this node's clock with those of the other nodes.
  package var clockStanding: NodeClocks.Verdict { clocks.withLock { $0.standing } }

  /// Whether this node's clock is wrong: the largest group of agreeing clocks shows another time.
  ///
  /// Always false when this process is the only node.
  package var isOutvoted: Bool { isNeeded && clockStanding == .outvoted }

  /// Notes how far this node's clock and those of other nodes are ahead of the database's.
  ///
  /// - Returns: the new result of comparing the clocks, if it has changed.
  func note(clockAhead: Duration, others: [Duration]) -> NodeClocks.Verdict? {
    clocks.withLock { clocks in
      let earlier = clocks.standing
      clocks = (clockAhead, NodeClocks.standing(of: clockAhead, among: others, after: earlier))
      return clocks.standing == earlier ? nil : clocks.standing
    }
  }

  /// Notes which other nodes are silent because they were killed or cut off.
  ///
  /// - Returns: the nodes that were not silent before.
  func note(silent now: Set<NodeID>) -> Set<NodeID> {
    silent.withLock { silent in
      defer { silent = now }
      return now.subtracting(silent)
    }
  }

  /// Counts in the metrics that this node missed changes.
  ///
  /// The caller reads everything in memory again.
  func noteMissed() { missed.withLock { $0 += 1 } }

  /// The metrics about other nodes in the Prometheus text format; empty when this process is the only node.
  package var exposition: String {
    guard isNeeded else { return "" }
    let (ahead, standing) = clocks.withLock { $0 }
    return Self.exposition(
      missed: missed.withLock { $0 }, silent: silent.withLock { $0.count }, clockAhead: ahead ?? .zero, standing)
  }

  package static func exposition(
    missed: Int, silent: Int, clockAhead: Duration, _ standing: NodeClocks.Verdict
  ) -> String {
    "# HELP regent_nodes_missed_total How often changes of other nodes were missed and all rows read again.\n"
      + "# TYPE regent_nodes_missed_total counter\nregent_nodes_missed_total \(missed)\n"
      + "# HELP regent_nodes_silent Other nodes that sent no heartbeat and were not stopped.\n"
      + "# TYPE regent_nodes_silent gauge\nregent_nodes_silent \(silent)\n"
      + "# HELP regent_clock_off_seconds How far this node's clock is ahead of the database server's.\n"
      + "# TYPE regent_clock_off_seconds gauge\n"
      + "regent_clock_off_seconds \(Double(clockAhead.wholeMilliseconds) / 1000)\n"
      + "# HELP regent_clock_outvoted Whether most other nodes agree on another time, so that this node does not serve.\n"
      + "# TYPE regent_clock_outvoted gauge\nregent_clock_outvoted \(standing == .outvoted ? 1 : 0)\n"
  }

  func note() { heard.withLock { $0 = clock.uptime } }

  /// Whether the change feed was stale for so long that everything in memory must be read again.
  var isLost: Bool { isNeeded && clock.uptime.since(heard.withLock { $0 }) > Self.memory }

  /// Whether the change feed is stale, so that memory may be outdated.
  package var isLate: Bool { isNeeded && clock.uptime.since(heard.withLock { $0 }) > Self.patience }
}
