/// The notifications (PostgreSQL's `NOTIFY`) between nodes.
///
/// A notification only tells the other nodes to read the change log; it carries no data. It is sent outside of the
/// transactions that write, because a NOTIFY takes a lock of the whole server at its COMMIT.
enum Bell {
  static let channel: StaticString = "regent_news"

  enum Meaning: String {
    case news
    /// A notification with which a node tests whether it receives its own notifications.
    case trial
  }

  static func payload(_ meaning: Meaning, from lane: Int64) -> String { "\(lane) \(meaning.rawValue)" }

  static func read(_ payload: String) -> (lane: Int64, meaning: Meaning)? {
    let words = payload.split(separator: " ")
    guard words.count == 2, let lane = Int64(words[0]), let meaning = Meaning(rawValue: String(words[1])) else {
      return nil
    }
    return (lane, meaning)
  }
}

/// How a node learns of the changes that other nodes write.
public enum Wakeups: String, Hashable, Sendable, CaseIterable {
  /// The node learns of changes by LISTEN, with an additional query every quarter of a second.
  case bell
  /// The node learns of changes by a query every 20 ms.
  ///
  /// For connections on which LISTEN does not work, because a pooler gives each transaction another server connection.
  case poll
}
