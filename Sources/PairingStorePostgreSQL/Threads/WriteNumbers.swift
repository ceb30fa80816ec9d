import PostgreSQL
public import RegentSQL

/// What was written since the store was opened.
public struct WriteNumbers: Sendable {
  /// Requests per committed transaction.
  public internal(set) var batchSizes = Histogram()
  /// How long a `COMMIT` took in microseconds, with the flush and the standby for which it waits.
  public internal(set) var commitMicroseconds = Histogram()
  /// Transactions that were given up as a whole for trouble of the database's.
  public internal(set) var rollbacks = 0
  /// How often the server's disk was found full.
  public internal(set) var diskFull = 0

  /// Nothing was written yet.
  public init() {}
}

extension PostgreSQLError {
  /// Whether it is the database's trouble: what a request wants and cannot have, and a row that is not as a shared
  /// transaction took it to be, are none.
  var isTrouble: Bool {
    switch state {
    case .data, .constraint, .serialization, .deadlock: false
    default: true
    }
  }
}
