import CSQLite
import Glibc

/// One row of a result, valid only inside the closure that receives it.
///
/// Columns are numbered from 0.
///
/// Reading does not convert between types: reading a text column as an integer is an error.
@safe public struct Row: ~Copyable {
  private let statement: OpaquePointer
  private let sql: String

  init(of statement: OpaquePointer, sql: String) {
    unsafe self.statement = unsafe statement
    self.sql = sql
  }

  public var count: Int { Int(unsafe sqlite3_column_count(statement)) }

  /// The value of a column as the given type.
  public func get<Value: SQLDecodable>(
    _ column: Int, as type: Value.Type = Value.self
  ) throws(SQLiteError) -> Value {
    try Value(row: self, column: column)
  }

  /// Whether the column is NULL.
  public func isNull(_ column: Int) throws(SQLiteError) -> Bool {
    try kind(column) == SQLITE_NULL
  }

  public func integer(_ column: Int) throws(SQLiteError) -> Int64 {
    try require(SQLITE_INTEGER, column, "an integer")
    return unsafe sqlite3_column_int64(statement, Int32(column))
  }

  /// The number of a column, which may be an integer or a floating-point number.
  public func real(_ column: Int) throws(SQLiteError) -> Double {
    if try kind(column) != SQLITE_INTEGER { try require(SQLITE_FLOAT, column, "a number") }
    return unsafe sqlite3_column_double(statement, Int32(column))
  }

  /// The text of a column.
  ///
  /// Bytes that are not UTF-8 are an error.
  public func text(_ column: Int) throws(SQLiteError) -> String {
    try require(SQLITE_TEXT, column, "a text")
    let start = unsafe sqlite3_column_text(statement, Int32(column))
    let bytes = unsafe UnsafeBufferPointer(
      start: start, count: Int(unsafe sqlite3_column_bytes(statement, Int32(column))))
    // `String(validating:as:)` is not used, because it is generic and takes six times as long for each text.
    guard let text = unsafe try? UTF8Span(validating: bytes.span) else {
      throw wrong(column, "a text in UTF-8")
    }
    return String(copying: text)
  }

  public func blob(_ column: Int) throws(SQLiteError) -> [UInt8] {
    try require(SQLITE_BLOB, column, "bytes")
    // The pointer is null for an empty blob. The count is 0 then.
    let start = unsafe sqlite3_column_blob(statement, Int32(column))
    let count = Int(unsafe sqlite3_column_bytes(statement, Int32(column)))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Whether the column holds exactly this value.
  ///
  /// Compares in SQLite's own memory, without a copy.
  public func holds(_ value: SQLValue, at column: Int) throws(SQLiteError) -> Bool {
    let kind = try kind(column)
    let place = Int32(column)
    switch value {
    case .null: return kind == SQLITE_NULL
    case .integer(let number):
      let held = unsafe sqlite3_column_int64(statement, place)
      return kind == SQLITE_INTEGER && held == number
    case .real(let number):
      let held = unsafe sqlite3_column_double(statement, place)
      return kind == SQLITE_FLOAT && held.bitPattern == number.bitPattern
    case .text(var text):
      guard kind == SQLITE_TEXT, let start = unsafe sqlite3_column_text(statement, place) else { return false }
      return text.withUTF8 { unsafe isEqual(UnsafeRawBufferPointer($0), UnsafeRawPointer(start), place) }
    case .blob(let bytes):
      guard kind == SQLITE_BLOB else { return false }
      let start = unsafe sqlite3_column_blob(statement, place)
      return unsafe bytes.withUnsafeBytes { unsafe isEqual($0, start, place) }
    }
  }

  private func isEqual(_ bytes: UnsafeRawBufferPointer, _ start: UnsafeRawPointer?, _ column: Int32) -> Bool {
    guard bytes.count == Int(unsafe sqlite3_column_bytes(statement, column)) else { return false }
    // An empty value has a null pointer, and there is nothing to compare.
    guard let start = unsafe start, let own = bytes.baseAddress else { return true }
    return unsafe memcmp(start, own, bytes.count) == 0
  }

  private func kind(_ column: Int) throws(SQLiteError) -> Int32 {
    guard column >= 0, column < count else {
      throw SQLiteError(
        code: .range, message: "there is no column \(column), the row has \(count)", sql: sql)
    }
    return unsafe sqlite3_column_type(statement, Int32(column))
  }

  private func require(_ wanted: Int32, _ column: Int, _ words: String) throws(SQLiteError) {
    guard try kind(column) == wanted else { throw wrong(column, words) }
  }

  private func wrong(_ column: Int, _ words: String) -> SQLiteError {
    let name = unsafe sqlite3_column_name(statement, Int32(column))
    let shown = unsafe name.map { unsafe String(cString: $0) } ?? "?"
    return SQLiteError(
      code: .mismatch, message: "column \(column) (\(shown)) is not \(words)", sql: sql)
  }
}
