/// Queries, which both read and write transactions can run.
public protocol Querying: ~Copyable {
  /// Runs a statement and hands each row to `body`, in order.
  func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws
}

extension Querying where Self: ~Copyable {
  /// Runs a query and turns each row into a value.
  public borrowing func all<Value>(
    _ sql: SQL, _ decode: (borrowing Row) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try each(sql) { values.append(try decode($0)) }
    return values
  }

  /// Runs a query and turns its first row into a value; nil if there is no row.
  public borrowing func first<Value>(
    _ sql: SQL, _ decode: (borrowing Row) throws -> Value
  ) throws -> Value? {
    var found: Value?
    do {
      try each(sql) { row in
        found = try decode(row)
        throw EnoughRows()
      }
    } catch is EnoughRows {}
    return found
  }

  /// Runs a query and returns the first column of its first row; nil if there is no row.
  public borrowing func value<Value: SQLDecodable>(
    _ sql: SQL, as type: Value.Type = Value.self
  ) throws -> Value? {
    try first(sql) { try $0.get(0) }
  }

  /// Whether the query returns a row.
  public borrowing func exists(_ sql: SQL) throws -> Bool {
    try first(sql) { _ in true } ?? false
  }
}

/// Ends a loop over rows early.
///
/// It is never thrown out of this file.
private struct EnoughRows: Error {}
