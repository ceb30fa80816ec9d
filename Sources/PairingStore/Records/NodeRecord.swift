public import RegentPairing

/// A node of the service (one of several processes on one database), as it last reported itself to the shared store.
public struct NodeRecord: Hashable, Sendable {
  public let id: NodeID
  public let version: String
  /// The node's start time by the database's clock.
  ///
  /// Times of different nodes are compared, so all of them are read from that one clock.
  public let started: Instant
  /// The time since the node last reported.
  public let silence: Duration
  /// The text with which the node last reported its state.
  ///
  /// Only the service interprets it.
  public let said: String
  /// The operator's instruction that the node has not carried out yet.
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

/// The state of the cluster, which each node reads with every heartbeat.
public struct ClusterStatus: Hashable, Sendable {
  /// The instruction that operators gave this node through another node.
  public var instruction: NodeInstruction?
  /// The number of serving nodes, including this one.
  public var serving: Int
  /// How far this node's clock is ahead of the database's clock; negative when it is behind.
  public var clockAhead: Duration
  /// Other nodes whose heartbeats stopped without a sign-off: they were killed or lost the connection.
  public var silent: Set<NodeID>
  /// The latest reports of the other nodes.
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

/// What operators can tell a node to do.
///
/// An instruction holds until an operator withdraws it or the node restarts.
public enum NodeInstruction: String, Hashable, Sendable, CaseIterable {
  /// The node must complete all its long polls now and hold no further ones.
  case drain
}
