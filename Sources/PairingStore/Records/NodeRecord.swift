public import RegentPairing

/// One of the programs that serve together on one store, as it was heard of last.
public struct NodeRecord: Hashable, Sendable {
  public let id: NodeID
  public let version: String
  /// By the store's clock, like all times that nodes are compared by.
  public let started: Instant
  /// Since when nothing was heard of it.
  public let silence: Duration
  /// What it says of itself; a text that only the service reads.
  public let said: String
  /// What it was told to do.
  public let wish: NodeWish?

  public init(id: NodeID, version: String, started: Instant, silence: Duration, said: String, wish: NodeWish?) {
    self.id = id
    self.version = version
    self.started = started
    self.silence = silence
    self.said = said
    self.wish = wish
  }
}

/// What a node hears as often as it says that it is there.
public struct NodeHearsay: Hashable, Sendable {
  /// What operators who asked another node want of it.
  public var wish: NodeWish?
  /// How many nodes serve, itself included.
  public var serving: Int
  /// How much later it is by this node's clock than by the store's; less than nothing when it is earlier.
  public var clockAhead: Duration
  /// Others that have said nothing for longer than they may, and did not say that they go: killed, or cut off.
  public var silent: Set<NodeID>

  public init(
    wish: NodeWish? = nil, serving: Int = 1, clockAhead: Duration = .zero, silent: Set<NodeID> = []
  ) {
    self.wish = wish
    self.serving = serving
    self.clockAhead = clockAhead
    self.silent = silent
  }
}

/// What operators want of a node, until they take it back or the node is started anew.
public enum NodeWish: String, Hashable, Sendable, CaseIterable {
  /// To hold no more replies, and to hand over those that it holds.
  case drain
}
