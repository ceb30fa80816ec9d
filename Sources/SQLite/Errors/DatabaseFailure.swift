/// Why a request to the database got no ordinary answer, and whether its change may have happened.
public enum DatabaseFailure: Error, Hashable, Sendable {
  /// The disk is full. Nothing of the request was written; reads go on, and later writes succeed once there is space.
  case diskFull(SQLiteError)
  /// The whole transaction was rolled back for another reason. Nothing of the request was written.
  case rolledBack(SQLiteError)
  /// The commit failed in a way that proves neither yes nor no. Open the database again and look.
  case outcomeUnknown(SQLiteError)
  /// An earlier failure stopped the writer for good. Nothing of the request was written.
  case stopped(SQLiteError)
  /// The database is closed or closing. Nothing of the request was written.
  case closed
  /// More requests are waiting than allowed. Nothing of the request was written.
  case overloaded(waiting: Int)

  /// Whether the request certainly changed nothing, so that repeating it is harmless.
  public var nothingWritten: Bool {
    if case .outcomeUnknown = self { return false }
    return true
  }

  /// What to do about it.
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
  /// One sentence that is safe to show.
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
