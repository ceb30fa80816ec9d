/// A type that a column can be read as.
public protocol SQLDecodable {
  /// Reads a column of the current row as this type. Throws if the column has another type.
  init(row: borrowing Row, column: Int) throws(SQLiteError)
}

extension Int64: SQLDecodable {
  public init(row: borrowing Row, column: Int) throws(SQLiteError) {
    self = try row.integer(column)
  }
}

extension Int: SQLDecodable {
  public init(row: borrowing Row, column: Int) throws(SQLiteError) {
    self = Int(try row.integer(column))
  }
}

extension Bool: SQLDecodable {
  /// Reads a Boolean, which is stored as 0 or 1.
  ///
  /// Another number is an error.
  public init(row: borrowing Row, column: Int) throws(SQLiteError) {
    switch try row.integer(column) {
    case 0: self = false
    case 1: self = true
    default: throw SQLiteError(code: .mismatch, message: "column \(column) is neither 0 nor 1")
    }
  }
}

extension Double: SQLDecodable {
  public init(row: borrowing Row, column: Int) throws(SQLiteError) {
    self = try row.real(column)
  }
}

extension String: SQLDecodable {
  public init(row: borrowing Row, column: Int) throws(SQLiteError) {
    self = try row.text(column)
  }
}

extension [UInt8]: SQLDecodable {
  public init(row: borrowing Row, column: Int) throws(SQLiteError) {
    self = try row.blob(column)
  }
}

extension Optional: SQLDecodable where Wrapped: SQLDecodable {
  /// Reads a value, or nil when the column is NULL.
  public init(row: borrowing Row, column: Int) throws(SQLiteError) {
    self = try row.isNull(column) ? nil : try Wrapped(row: row, column: column)
  }
}
