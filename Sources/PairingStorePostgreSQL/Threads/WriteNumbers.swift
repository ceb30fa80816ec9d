import PostgreSQL
public import RegentSQL

/// Counters of the writes since the store was opened.
public struct WriteNumbers: Sendable {
  /// The number of requests in each committed transaction.
  public internal(set) var batchSizes = Histogram()
  /// The duration of a COMMIT in microseconds, including the flush and the wait for the standby.
  public internal(set) var commitMicroseconds = Histogram()
  /// The number of transactions that were rolled back because of a problem of the database.
  public internal(set) var rollbacks = 0
  public internal(set) var diskFull = 0

  public init() {}
}

extension PostgreSQLError {
  /// Whether the error is a problem of the database.
  ///
  /// Errors in a request's data do not count. Neither do conflicts in a shared transaction, whose requests then run
  /// alone.
  var isTrouble: Bool {
    switch state {
    case .data, .constraint, .serialization, .deadlock: false
    default: true
    }
  }
}
