import CPostgreSQL

/// The rows that a statement returned, and how many it changed.
public struct Rows: RandomAccessCollection {
  let result: ResultHandle
  let sql: String?
  /// The indexes of these rows in the result; nil if they are all rows of the result.
  private let places: [Int]?

  init(result: ResultHandle, sql: String?, places: [Int]? = nil) {
    (self.result, self.sql, self.places) = (result, sql, places)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { places?.count ?? result.rowCount }
  public subscript(index: Int) -> Row { Row(result: result, index: places?[index] ?? index, sql: sql) }

  /// How many rows the statement changed or returned.
  public var changed: Int { places?.count ?? result.changed }

  /// The rows of this result at these indexes.
  package func at(_ indexes: [Int]) -> Rows {
    Rows(result: result, sql: sql, places: places.map { places in indexes.map { places[$0] } } ?? indexes)
  }
}

/// One row of a result.
///
/// Columns are numbered from 0.
///
/// Reading does not convert between types: reading a text column as an integer is an error.
public struct Row {
  let result: ResultHandle
  let index: Int
  let sql: String?

  public var count: Int { result.columnCount }

  /// Whether the column is NULL.
  public func isNull(_ column: Int) throws(PostgreSQLError) -> Bool {
    guard column >= 0, column < count else {
      throw PostgreSQLError(.value, "there is no column \(column), the row has \(count)", sql: sql)
    }
    return result.isNull(index, column)
  }

  /// The integer in a column.
  ///
  /// A Boolean is 1 or 0.
  public func integer(_ column: Int) throws(PostgreSQLError) -> Int64 {
    guard case .integer(let number) = try value(column) else { throw wrong(column, "an integer") }
    return number
  }

  /// The number in a column, which may be an integer or a floating-point number.
  public func real(_ column: Int) throws(PostgreSQLError) -> Double {
    switch try value(column) {
    case .real(let number): return number
    case .integer(let number): return Double(number)
    default: throw wrong(column, "a number")
    }
  }

  public func text(_ column: Int) throws(PostgreSQLError) -> String {
    guard case .text(let text) = try value(column) else { throw wrong(column, "a text") }
    return text
  }

  public func blob(_ column: Int) throws(PostgreSQLError) -> [UInt8] {
    guard case .blob(let bytes) = try value(column) else { throw wrong(column, "bytes") }
    return bytes
  }

  /// The value of a column, in the column's own type.
  public func value(_ column: Int) throws(PostgreSQLError) -> SQLValue {
    if try isNull(column) { return .null }
    let type = ValueType(rawValue: result.type(column))
    let value: SQLValue? = unsafe result.withBytes(index, column) { bytes in
      switch type {
      case .boolean: return unsafe wholeNumber(bytes, UInt8.self)
      case .int2: return unsafe wholeNumber(bytes, Int16.self)
      case .int4: return unsafe wholeNumber(bytes, Int32.self)
      case .int8: return unsafe wholeNumber(bytes, Int64.self)
      case .float4:
        let bits = unsafe bigEndian(bytes, UInt32.self)
        return bits.map { SQLValue.real(Double(Float(bitPattern: $0))) }
      case .float8:
        let bits = unsafe bigEndian(bytes, UInt64.self)
        return bits.map { SQLValue.real(Double(bitPattern: $0)) }
      case .bytes: return unsafe .blob(Array(bytes))
      case .text, .name, .characters, .varying, .unknown:
        let copy = unsafe Array(bytes)
        guard let text = try? UTF8Span(validating: copy.span) else { return nil }
        return .text(String(copying: text))
      case nil: return nil
      }
    }
    guard let value else {
      throw PostgreSQLError(
        .value, "column \(column) (\(result.columnName(column))) has a type that is not read", sql: sql,
        hint: "cast it in the statement, for example CAST(… AS BIGINT)")
    }
    return value
  }

  private func wrong(_ column: Int, _ words: String) -> PostgreSQLError {
    PostgreSQLError(.value, "column \(column) (\(result.columnName(column))) is not \(words)", sql: sql)
  }
}

private func wholeNumber<Number: FixedWidthInteger>(
  _ bytes: UnsafeRawBufferPointer, _ type: Number.Type
) -> SQLValue? {
  let number = unsafe bigEndian(bytes, type)
  return number.map { .integer(Int64($0)) }
}

private func bigEndian<Number: FixedWidthInteger>(
  _ bytes: UnsafeRawBufferPointer, _ type: Number.Type
) -> Number? {
  guard bytes.count == MemoryLayout<Number>.size else { return nil }
  return unsafe Number(bigEndian: bytes.loadUnaligned(as: Number.self))
}
