/// The prepared statements of one connection, by their text.
///
/// Used by the connection's thread only.
final class StatementCache {
  /// A statement that waits to be used again.
  ///
  /// A class, because a collection cannot hold noncopyable values.
  final class Entry {
    let statement: Statement
    var inUse = true
    var lastUse: UInt64 = 0

    init(_ statement: consuming Statement) { self.statement = statement }
  }

  /// A statement's text as a key: its length and a few letters are hashed, the whole text is compared.
  ///
  /// The texts are hundreds of bytes long, stand in the source, and differ in their tables and columns; nobody outside
  /// chooses one, so nobody can make many that hash alike.
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

  // A service has tens of statements; lists of different lengths make more, and must not grow without bound.
  private static let capacity = 128
  private var entries: [Text: Entry] = [:]
  private var uses: UInt64 = 0

  var count: Int { entries.count }

  /// The statement of that text when nobody uses it; it is in use until `giveBack`.
  func take(_ sql: String) -> Entry? {
    guard let entry = entries[Text(text: sql)], !entry.inUse else { return nil }
    uses += 1
    entry.inUse = true
    entry.lastUse = uses
    return entry
  }

  /// Keeps a new statement unless one of that text exists, which then is in use: a query inside its own loop.
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
