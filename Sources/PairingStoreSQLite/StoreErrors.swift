import PairingStore
import SQLite

extension StoreError {
  /// Translates an error of the database layer for callers of the store.
  init(of error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let failure as DatabaseFailure: self = StoreError(failure)
    case let error as SQLiteError:
      if case .full = error.code {
        self = .diskFull
      } else {
        self = .unavailable(reason: error.description)
      }
    default: self = .unavailable(reason: "\(error)")
    }
  }

  private init(_ failure: DatabaseFailure) {
    switch failure {
    case .diskFull: self = .diskFull
    case .outcomeUnknown(let cause): self = .unknownOutcome(reason: cause.description)
    case .rolledBack, .stopped, .closed, .overloaded:
      self = .unavailable(reason: failure.description)
    }
  }
}
