/// The bell that nodes ring for each other: that there is something to read, never what.
///
/// It is rung outside of the transactions that write: a NOTIFY takes a lock of the whole server at its COMMIT.
enum Bell {
  static let channel: StaticString = "regent_news"

  enum Meaning: String {
    case news
    /// Whether whoever rings hears it himself.
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

/// How a node hears what others write.
public enum Wakeups: String, Hashable, Sendable, CaseIterable {
  /// By LISTEN; a look every quarter of a second beside it.
  case bell
  /// By a look every 20 ms, where there is no LISTEN: through a pooler that gives each transaction another connection.
  case poll
}
