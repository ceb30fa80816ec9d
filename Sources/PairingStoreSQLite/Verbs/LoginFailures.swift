public import PairingStore
public import RegentPairing
import SQLite

extension SQLiteStore {
  /// The failures of one account or source.
  public func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures? {
    try await read { context, rows in try rows.failures(context, subject.key)?.record.failures }
  }

  /// Counts one more.
  public func recordLoginFailure(of subject: LoginSubject, at now: Instant)
    async throws(StoreError) -> LoginFailures
  {
    try await write { context, rows in
      let stored = try rows.failures(context, subject.key)
      let after = LoginThrottle.adding(to: stored?.record.failures, at: now)
      try rows.put(
        context, Tables.loginFailures, CountedFailures(subject: subject.key, failures: after),
        over: stored)
      return after
    }
  }

  /// Forgets the failures of a subject.
  public func clearLoginFailures(of subject: LoginSubject) async throws(StoreError) {
    let key = subject.key
    // Most sign-ins follow no failure: nothing to forget is no disk write.
    let isThere = try await read { context, _ in
      try context.exists("SELECT 1 FROM login_failure WHERE subject = \(key)")
    }
    guard isThere else { return }
    try await write { context, _ in
      try context.run("DELETE FROM login_failure WHERE subject = \(key)")
      return
    }
  }
}

extension SignedRows {
  fileprivate func failures<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ subject: String
  ) throws -> Stored<CountedFailures>? {
    try one(
      context, Tables.loginFailures, "\(all: Tables.loginFailures) WHERE subject = \(subject)")
  }
}
