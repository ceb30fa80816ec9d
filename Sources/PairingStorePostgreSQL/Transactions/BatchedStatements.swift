import PostgreSQL
import RegentSQL

/// Statements of one text that go to the server as one: each statement costs it more than a row of one.
///
/// They are taken in powers of two, so that few texts are prepared however many there are.
enum BatchedStatements {
  /// One piece of what is gathered.
  private static func pieces(_ count: Int, most: Int) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var start = 0
    var size = most
    while start < count {
      while size > count - start { size /= 2 }
      pieces.append(start..<start + size)
      start += size
    }
    return pieces
  }

  // MARK: - Rows

  /// Rows in one INSERT at most: a few thousand values are a statement that the server still parses in milliseconds.
  private static let mostRows = 64

  /// INSERTs of one row and one text as few of many rows.
  ///
  /// One row that cannot be written fails them all, as it does when they are sent one by one.
  static func inserts(_ rows: ArraySlice<SQL>) -> [SQL] {
    guard rows.count > 1, let first = rows.first else { return Array(rows) }
    let row = ", (" + first.values.indices.map { $0 == 0 ? "?" : ", ?" }.joined() + ")"
    return pieces(rows.count, most: mostRows).map { piece in
      let some = rows[rows.startIndex + piece.lowerBound..<rows.startIndex + piece.upperBound]
      return SQL(
        unsafeRawSQL: first.text + String(repeating: row, count: piece.count - 1), some.flatMap(\.values))
    }
  }

  // MARK: - Questions

  /// Questions in one statement at most.
  private static let mostQuestions = 256

  /// A statement for some questions, which are named by their places.
  struct Asking {
    let sql: SQL
    let questions: Range<Int>
  }

  /// Questions of one text, each with its values, as few statements.
  ///
  /// Each question is asked as it stands, for a row of a list of values: `OFFSET 0` keeps the server from making a join
  /// of it, for which it may go through the whole table. The last column says which question a row belongs to.
  static func questions(_ text: String, _ values: [[SQLValue]]) -> [Asking] {
    guard let first = values.first, let types = types(of: first), values.allSatisfy({ Self.types(of: $0) == types })
    else { return values.indices.map { Asking(sql: SQL(unsafeRawSQL: text, values[$0]), questions: $0..<$0 + 1) } }
    return pieces(values.count, most: mostQuestions).map { piece in
      if piece.count == 1 {
        return Asking(sql: SQL(unsafeRawSQL: text, values[piece.lowerBound]), questions: piece)
      }
      let names = types.indices.map { "v\($0 + 1), " }.joined()
      let head = types.map { "CAST(? AS \($0)), " }.joined()
      let others = types.map { _ in "?, " }.joined()
      let list = (0..<piece.count).map { "(\($0 == 0 ? head : others)\($0))" }.joined(separator: ", ")
      let sql = """
        SELECT answer.*, asked.n FROM (VALUES \(list)) AS asked (\(names)n)
        CROSS JOIN LATERAL (\(numbered(text, as: "asked.v")) OFFSET 0) AS answer
        """
      return Asking(sql: SQL(unsafeRawSQL: sql, values[piece].flatMap(\.self)), questions: piece)
    }
  }

  /// The types of values in a list, which say themselves nothing of it; `nil` when they cannot be in one.
  private static func types(of values: [SQLValue]) -> [String]? {
    var types: [String] = []
    for value in values {
      switch value {
      case .text: types.append("TEXT")
      case .blob: types.append("BYTEA")
      case .integer: types.append("BIGINT")
      case .null, .real: return nil
      }
    }
    return types.isEmpty ? nil : types
  }

  /// The answer to each question of such a statement.
  static func answers(_ rows: Rows, to asking: Asking) throws -> [Rows] {
    guard asking.questions.count > 1 else { return [rows] }
    var places = [[Int]](repeating: [], count: asking.questions.count)
    for (place, row) in rows.enumerated() { places[Int(try row.integer(row.count - 1))].append(place) }
    return places.map { rows.at($0) }
  }
}
