internal import PairingStore
internal import RegentJSON
internal import RegentPairing
internal import RegentPlatform

/// What this node and the others say of themselves, and what operators want of them.
package struct NodeStatusExchange: Sendable {
  /// What a node says of itself.
  package struct Said: Hashable, Sendable {
    /// Replies that it holds for boxes and phones.
    package var waiting = 0
    /// Whether it takes no new ones.
    package var isDraining = false
    /// How much later its clock is than the store's; nothing until it has looked.
    package var clockAhead: Duration?
    /// The address that it gives to boxes and phones, and as whom it signs; one of the release before says nothing.
    package var publicURL: String?

    package init(
      waiting: Int = 0, isDraining: Bool = false, clockAhead: Duration? = nil, publicURL: String? = nil
    ) {
      self.waiting = waiting
      self.isDraining = isDraining
      self.clockAhead = clockAhead
      self.publicURL = publicURL
    }

    /// What another node has said; nothing where that is not understood.
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

  /// What this node says now.
  package var own: Said {
    Said(
      waiting: core.waiters.count, isDraining: core.drain.isOn, clockAhead: core.nodeNews.clockAhead,
      publicURL: core.options.publicURL)
  }

  /// Says it to the others, and does what operators want who asked one of them.
  func once() async throws(StoreError) {
    let heard = try await core.store.report(own.text)
    core.drain.set(heard.instruction == .drain)
    core.limits.divide(among: heard.serving)
    noteClocks(heard)
    for node in core.nodeNews.note(silent: heard.silent).sorted() {
      core.log.warning(
        "node-silent", ("node", node.text),
        ("hint", "killed, or cut off from the database: others serve; one that was taken away is forgotten after a day")
      )
    }
  }

  private func noteClocks(_ heard: ClusterStatus) {
    // Who drains would leave nobody to serve.
    let others = heard.others.map(Said.init(reading:)).filter { !$0.isDraining }.compactMap(\.clockAhead)
    guard let standing = core.nodeNews.note(clockAhead: heard.clockAhead, others: others) else { return }
    switch standing {
    case .agrees: core.log.info("clock-agrees")
    case .disputed:
      core.log.warning(
        "clock-disputed", ("clock", "\(heard.clockAhead.aheadInWords) the database's"),
        ("hint", "nobody can tell which is wrong: set it with timedatectl, here or on the database's server"))
    case .outvoted:
      core.log.warning(
        "clock-outvoted", ("clock", "\(heard.clockAhead.aheadInWords) the database's"),
        ("hint", "most others agree on another time, so /readyz says 503: set this machine's clock, timedatectl"))
    }
  }
}
