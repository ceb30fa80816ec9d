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
  public let instruction: NodeInstruction?

  public init(
    id: NodeID, version: String, started: Instant, silence: Duration, said: String, instruction: NodeInstruction?
  ) {
    self.id = id
    self.version = version
    self.started = started
    self.silence = silence
    self.said = said
    self.instruction = instruction
  }
}

/// How the nodes are together: what each hears as often as it says that it is there.
public struct ClusterStatus: Hashable, Sendable {
  /// What operators who asked another node want of it.
  public var instruction: NodeInstruction?
  /// How many nodes serve, itself included.
  public var serving: Int
  /// How much later it is by this node's clock than by the store's; less than nothing when it is earlier.
  public var clockAhead: Duration
  /// Others that have said nothing for longer than they may, and did not say that they go: killed, or cut off.
  public var silent: Set<NodeID>
  /// What each of the others that were heard of lately says of itself.
  public var others: [String]

  public init(
    instruction: NodeInstruction? = nil, serving: Int = 1, clockAhead: Duration = .zero, silent: Set<NodeID> = [],
    others: [String] = []
  ) {
    self.instruction = instruction
    self.serving = serving
    self.clockAhead = clockAhead
    self.silent = silent
    self.others = others
  }
}

/// What operators have a node do, until they take it back or the node is started anew.
public enum NodeInstruction: String, Hashable, Sendable, CaseIterable {
  /// To hold no more replies, and to hand over those that it holds.
  case drain
}
