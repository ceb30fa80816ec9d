import PairingStore
import PostgreSQL
import RegentSQL

extension StoreError {
  /// Translates an error of the database layer for callers of the store.
  init(of error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as PostgreSQLError: self = StoreError(error)
    default: self = .unavailable(reason: "\(error)")
    }
  }

  private init(_ error: PostgreSQLError) {
    switch error.state {
    case .diskFull: self = .diskFull
    case .tooLarge: self = .unkeepable(what: "a name that is longer than its index takes")
    // These errors occur while the service runs. Operators see only the message in the log, so the message includes the
    // hint.
    case .noStatement, .statementThere, .noRight:
      self = .unavailable(reason: error.hint.map { "\(error.description); \($0)" } ?? error.description)
    default: self = .unavailable(reason: error.description)
    }
  }

  /// The error for a COMMIT without a known outcome.
  static func unknown(_ error: PostgreSQLError?) -> StoreError {
    .unknownOutcome(reason: error?.description ?? "the database has not answered a COMMIT yet")
  }
}

extension SQL {
  /// Whether PostgreSQL can store all texts of this value.
  ///
  /// They must not contain NUL characters.
  var isKeepable: Bool {
    values.allSatisfy { value in
      guard case .text(let text) = value else { return true }
      return !text.utf8.contains(0)
    }
  }

  /// Throws `unkeepable` before the value is sent to the server.
  ///
  /// The server would reject a text with a NUL character, and roll back the shared transaction with the requests of
  /// others.
  func requireKeepable() throws(StoreError) {
    guard isKeepable else { throw .unkeepable(what: "a text with a zero byte") }
  }
}
