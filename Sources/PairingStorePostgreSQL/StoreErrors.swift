import PairingStore
import PostgreSQL
import RegentSQL

extension StoreError {
  /// What a failure below means to whoever asked.
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
    // They come while the service runs, and whoever reads the log has nothing else to go by.
    case .noStatement, .statementThere, .noRight:
      self = .unavailable(reason: error.hint.map { "\(error.description); \($0)" } ?? error.description)
    default: self = .unavailable(reason: error.description)
    }
  }

  /// A COMMIT of which nobody knows yet.
  static func unknown(_ error: PostgreSQLError?) -> StoreError {
    .unknownOutcome(reason: error?.description ?? "the database has not answered a COMMIT yet")
  }
}

extension SQL {
  /// Whether PostgreSQL can keep every text of it: none may have a zero byte.
  var isKeepable: Bool {
    values.allSatisfy { value in
      guard case .text(let text) = value else { return true }
      return !text.utf8.contains(0)
    }
  }

  /// Refuses what the server would, before it is sent: a shared transaction would be undone for it, with all others'
  /// requests.
  func requireKeepable() throws(StoreError) {
    guard isKeepable else { throw .unkeepable(what: "a text with a zero byte") }
  }
}
