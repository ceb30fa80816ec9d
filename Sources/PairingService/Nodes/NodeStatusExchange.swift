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
    /// How much later its clock is than the store's.
    package var clockAhead = Duration.zero

    package init(waiting: Int = 0, isDraining: Bool = false, clockAhead: Duration = .zero) {
      self.waiting = waiting
      self.isDraining = isDraining
      self.clockAhead = clockAhead
    }

    /// What another node has said; nothing where that is not understood.
    package init(reading text: String) {
      guard let object = try? JSONValue(reading: text).object else { return }
      waiting = Int(clamping: object["waiting"]?.int64 ?? 0)
      isDraining = object["draining"]?.bool ?? false
      clockAhead = .milliseconds(object["clockAhead"]?.int64 ?? 0)
    }

    var text: String {
      JSONValue.object([
        "waiting": .integer(Int64(waiting)), "draining": .bool(isDraining),
        "clockAhead": .integer(clockAhead.wholeMilliseconds),
      ]).description
    }
  }

  private let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  /// What this node says now.
  package var own: Said {
    Said(waiting: core.waiters.count, isDraining: core.drain.isOn, clockAhead: core.nodeNews.clockAhead)
  }

  /// Says it to the others, and does what operators want who asked one of them.
  func once() async throws(StoreError) {
    let heard = try await core.store.report(own.text)
    core.drain.set(heard.instruction == .drain)
    core.limits.divide(among: heard.serving)
    core.nodeNews.note(clockAhead: heard.clockAhead)
    for node in core.nodeNews.note(silent: heard.silent).sorted() {
      core.log.warning(
        "node-silent", ("node", node.text),
        ("hint", "killed, or cut off from the database: others serve; one that was taken away is forgotten after a day")
      )
    }
  }
}
