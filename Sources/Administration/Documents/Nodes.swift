public import RegentPairing

/// One of the programs that serve together: what `node list` shows.
public struct NodeEntry: AdminDocument, Codable, Hashable {
  public var name: NodeID
  public var version: String
  public var started: Instant
  /// For how many milliseconds nothing was heard of it.
  @Ruled<DayCount> public var silence: Int
  /// Replies that it holds for boxes and phones.
  @Ruled<DayCount> public var waiting: Int
  /// Whether it takes no new ones.
  public var draining: Bool
  /// Whether it is the one that was asked.
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
