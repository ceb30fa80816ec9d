/// The prepared statements of one connection, keyed by their SQL text.
///
/// Only the connection's thread uses it.
final class StatementCache {
  /// A cached statement.
  ///
  /// It is a class because a collection cannot hold noncopyable values.
  final class Entry {
    let statement: Statement
    var inUse = true
    var lastUse: UInt64 = 0

    init(_ statement: consuming Statement) { self.statement = statement }
  }

  /// A statement's text as a dictionary key.
  ///
  /// The hash covers only the length and eight bytes, which is fast; equality compares the whole text.
  ///
  /// The texts are hundreds of bytes long and written in the source. No input chooses one, so an attacker cannot create
  /// many with the same hash.
  private struct Text: Hashable {
    let text: String

    func hash(into hasher: inout Hasher) {
      let bytes = text.utf8.span
      var some: UInt64 = 0
      for turn in 1...8 where !bytes.isEmpty { some = some << 8 | UInt64(bytes[(bytes.count - 1) * turn / 8]) }
      hasher.combine(bytes.count)
      hasher.combine(some)
    }
  }

  // A service has tens of statements. Each length of a list in `IN` makes one more, so the cache needs a limit.
  private static let capacity = 128
  private var entries: [Text: Entry] = [:]
  private var uses: UInt64 = 0

  var count: Int { entries.count }

  /// The cached statement with this text, marked as in use until `giveBack`.
  ///
  /// Nil when the cache has none, or when it is in use.
  func take(_ sql: String) -> Entry? {
    guard let entry = entries[Text(text: sql)], !entry.inUse else { return nil }
    uses += 1
    entry.inUse = true
    entry.lastUse = uses
    return entry
  }

  /// Caches a new statement, unless one with this text is cached already.
  ///
  /// The cached one is then in use, because a query runs inside a loop over rows of the same query.
  func keep(_ statement: consuming Statement) -> Entry {
    let sql = Text(text: statement.sql)
    let entry = Entry(statement)
    guard entries[sql] == nil else { return entry }
    if entries.count >= StatementCache.capacity, let oldest {
      entries[oldest] = nil
    }
    uses += 1
    entry.lastUse = uses
    entries[sql] = entry
    return entry
  }

  func giveBack(_ entry: Entry) {
    entry.statement.reset()
    entry.inUse = false
  }

  func removeAll() { entries = [:] }

  private var oldest: Text? {
    entries.filter { !$0.value.inUse }.min { $0.value.lastUse < $1.value.lastUse }?.key
  }
}
