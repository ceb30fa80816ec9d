import PostgreSQL
import RegentSQL

/// Combines statements with the same text into one, because each statement costs the server more than a row.
///
/// The number of combined statements is a power of two, so that only a few different texts are prepared.
enum BatchedStatements {
  /// Splits a number of equal statements into groups whose sizes are powers of two.
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

  // MARK: - Inserts

  /// The maximum number of rows in one INSERT.
  ///
  /// The server can still parse a statement with a few thousand values in milliseconds.
  private static let mostRows = 64

  /// Combines single-row INSERTs with the same text into a few with many rows.
  ///
  /// If one row cannot be written, all rows of its INSERT fail. The transaction fails in the same way when the rows are
  /// sent one by one.
  static func inserts(_ rows: ArraySlice<SQL>) -> [SQL] {
    guard rows.count > 1, let first = rows.first else { return Array(rows) }
    let row = ", (" + first.values.indices.map { $0 == 0 ? "?" : ", ?" }.joined() + ")"
    return pieces(rows.count, most: mostRows).map { piece in
      let some = rows[rows.startIndex + piece.lowerBound..<rows.startIndex + piece.upperBound]
      return SQL(
        unsafeRawSQL: first.text + String(repeating: row, count: piece.count - 1), some.flatMap(\.values))
    }
  }

  // MARK: - Queries

  /// The maximum number of queries in one statement.
  private static let mostQuestions = 256

  /// A statement that combines the queries with these indexes.
  struct Asking {
    let sql: SQL
    let questions: Range<Int>
  }

  /// Combines queries with the same text into a few statements.
  ///
  /// The combined statement runs the unchanged query for each row of a list of values. `OFFSET 0` keeps the planner
  /// from turning it into a join, for which it might scan the whole table. The last column of the result is the index
  /// of the query.
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

  /// The SQL types of the values, which a VALUES list needs.
  ///
  /// Nil when a value has a type that such a list cannot hold.
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

  /// Splits the result of a combined statement into the results of its queries.
  static func answers(_ rows: Rows, to asking: Asking) throws -> [Rows] {
    guard asking.questions.count > 1 else { return [rows] }
    var places = [[Int]](repeating: [], count: asking.questions.count)
    for (place, row) in rows.enumerated() { places[Int(try row.integer(row.count - 1))].append(place) }
    return places.map { rows.at($0) }
  }
}
