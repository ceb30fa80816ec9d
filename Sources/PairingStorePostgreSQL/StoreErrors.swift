import PairingStore
import PostgreSQL

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
    guard let state = error.state, state == .diskFull else {
      self = .unavailable(reason: error.description)
      return
    }
    self = .diskFull
  }

  /// A COMMIT of which nobody knows yet.
  static func unknown(_ error: PostgreSQLError?) -> StoreError {
    .unknownOutcome(reason: error?.description ?? "the database has not answered a COMMIT yet")
  }
}
