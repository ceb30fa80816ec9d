public import RegentPairing

/// One of several nodes that share a store, as `node list` shows it.
public struct NodeEntry: AdminDocument, Codable, Hashable {
  public var name: NodeID
  public var version: String
  public var started: Instant
  /// The milliseconds since the node last reported its state.
  @Ruled<DayCount> public var silence: Int
  /// The number of long polls that the node holds for boxes and phones.
  @Ruled<DayCount> public var waiting: Int
  /// Whether the node refuses new long polls, because it is about to be stopped.
  public var draining: Bool
  /// Whether this is the node that answered this request.
  public var asked: Bool

  private enum CodingKeys: String, CodingKey {
    case name, version, started
    case silence = "silenceMs"
    case waiting, draining, asked
  }

  public init(
    name: NodeID, version: String, started: Instant, silence: Int, waiting: Int, draining: Bool, asked: Bool
  ) {
    self.name = name
    self.version = version
    self.started = started
    self.waiting = waiting
    self.draining = draining
    self.asked = asked
    self.silence = silence
  }
}
