internal import PairingStore
internal import RegentJSON
internal import RegentPairing
internal import RegentPlatform

/// Exchanges status between the nodes through the store, and follows operators' instructions.
package struct NodeStatusExchange: Sendable {
  /// The status that a node reports to the others.
  package struct Said: Hashable, Sendable {
    /// The number of the node's long polls.
    package var waiting = 0
    /// Whether the node is draining: it holds no new long polls because it will be stopped.
    package var isDraining = false
    /// How far the node's clock is ahead of the database's; nil before the first comparison.
    package var clockAhead: Duration?
    /// The node's public address, which it gives to boxes and phones and uses as issuer.
    ///
    /// Nodes of the previous release do not report it.
    package var publicURL: String?

    package init(
      waiting: Int = 0, isDraining: Bool = false, clockAhead: Duration? = nil, publicURL: String? = nil
    ) {
      self.waiting = waiting
      self.isDraining = isDraining
      self.clockAhead = clockAhead
      self.publicURL = publicURL
    }

    /// Reads another node's status.
    ///
    /// Members that cannot be read keep their default values.
    package init(reading text: String) {
      guard let object = try? JSONValue(reading: text).object else { return }
      waiting = Int(clamping: object["waiting"]?.int64 ?? 0)
      isDraining = object["draining"]?.bool ?? false
      clockAhead = object["clockAhead"]?.int64.map { .milliseconds($0) }
      publicURL = object["publicURL"]?.string
    }

    var text: String {
      var said: JSONObject = ["waiting": .integer(Int64(waiting)), "draining": .bool(isDraining)]
      if let clockAhead { said["clockAhead"] = .integer(clockAhead.wholeMilliseconds) }
      if let publicURL { said["publicURL"] = .string(publicURL) }
      return JSONValue.object(said).description
    }
  }

  private let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  /// The status that this node reports to the others.
  package var own: Said {
    Said(
      waiting: core.waiters.count, isDraining: core.drain.isOn, clockAhead: core.nodeChangeFeed.clockAhead,
      publicURL: core.options.publicURL)
  }

  /// Stores this node's status, reads that of the others, and follows an instruction that an operator gave through
  /// another node.
  func once() async throws(StoreError) {
    let heard = try await core.store.report(own.text)
    core.drain.set(heard.instruction == .drain)
    core.limits.divide(among: heard.serving)
    noteClocks(heard)
    for node in core.nodeChangeFeed.note(silent: heard.silent).sorted() {
      core.log.warning(
        "node-silent", ("node", node.text),
        ("hint", "killed, or cut off from the database: others serve; one that was taken away is forgotten after a day")
      )
    }
  }

  private func noteClocks(_ heard: ClusterStatus) {
    // The clocks of draining nodes are not counted: otherwise such nodes could outvote the last node that serves.
    let others = heard.others.map(Said.init(reading:)).filter { !$0.isDraining }.compactMap(\.clockAhead)
    guard let standing = core.nodeChangeFeed.note(clockAhead: heard.clockAhead, others: others) else { return }
    switch standing {
    case .agrees: core.log.info("clock-agrees")
    case .disputed:
      core.log.warning(
        "clock-disputed", ("clock", "\(heard.clockAhead.aheadInWords) the database's"),
        ("hint", "one of the two clocks is wrong: set it with timedatectl, here or on the database server"))
    case .outvoted:
      core.log.warning(
        "clock-outvoted", ("clock", "\(heard.clockAhead.aheadInWords) the database's"),
        ("hint", "most nodes agree on another time, so this one serves no requests: set its clock with timedatectl"))
    }
  }
}
