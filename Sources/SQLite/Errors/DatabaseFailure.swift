/// Why the database did not complete a request, and whether the request's change may have been written.
public enum DatabaseFailure: Error, Hashable, Sendable {
  /// The disk is full.
  ///
  /// Nothing was written. Reads still work, and writes succeed again once there is space.
  case diskFull(SQLiteError)
  /// The whole transaction was rolled back, not because of a full disk. Nothing was written.
  case rolledBack(SQLiteError)
  /// The commit failed in a way that leaves unknown whether it was written.
  ///
  /// Only opening the database again shows that.
  case outcomeUnknown(SQLiteError)
  /// An earlier failure has stopped the writer for good.
  ///
  /// Nothing was written.
  case stopped(SQLiteError)
  /// The database is closed or closing.
  ///
  /// Nothing was written.
  case closed
  /// Too many requests are queued.
  ///
  /// Nothing was written.
  case overloaded(waiting: Int)

  /// Whether the request certainly changed nothing, so that it may be repeated.
  public var nothingWritten: Bool {
    if case .outcomeUnknown = self { return false }
    return true
  }

  public var hint: String? {
    switch self {
    case .diskFull(let cause), .rolledBack(let cause): cause.hint
    case .outcomeUnknown(let cause), .stopped(let cause):
      cause.hint ?? "start the service again: opening the database settles what was written"
    case .closed: nil
    case .overloaded: "try again in a moment; the disk is slower than the requests come in"
    }
  }
}

extension DatabaseFailure: CustomStringConvertible {
  /// The error as one sentence, without secrets.
  public var description: String {
    switch self {
    case .diskFull: "the disk is full: nothing was written"
    case .rolledBack(let cause): "the transaction was rolled back, nothing was written: \(cause)"
    case .outcomeUnknown(let cause): "it is unknown whether the change was written: \(cause)"
    case .stopped(let cause):
      "the database takes no more changes since an earlier failure, nothing was written: \(cause)"
    case .closed: "the database is closed"
    case .overloaded(let waiting): "\(waiting) requests to the database are waiting already"
    }
  }
}
