public import PairingStore
public import RegentPairing
import RegentSQL

extension RowStore {
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
      let before = try stored ?? (subject.inherits ? rows.failures(context, CountedFailures.others) : nil)
      let after = LoginThrottle.adding(to: before?.record.failures, at: now)
      try rows.put(
        context, Tables.loginFailures, CountedFailures(subject: subject.key, failures: after),
        over: stored)
      return after
    }
  }

  /// Sets the failures of a subject, as long as they are what the caller knows.
  public func replaceLoginFailures(of subject: LoginSubject, _ known: LoginFailures?, by failures: LoginFailures?)
    async throws(StoreError) -> Bool
  {
    let key = subject.key
    return try await write { context, rows in
      let stored = try rows.failures(context, key)
      guard stored?.record.failures == known else { return false }
      if let failures {
        try rows.put(context, Tables.loginFailures, CountedFailures(subject: key, failures: failures), over: stored)
      } else {
        try context.run("DELETE FROM login_failure WHERE subject = \(key)")
      }
      return true
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
  /// Forgets those with the fewest failures when there are too many, and keeps how many these had at most.
  func forgetFailures(
    _ context: borrowing WriteContext, beyond most: Int, at now: Instant, limit: Int
  ) throws -> Int {
    let count: Int64 = try context.value("SELECT count(*) FROM login_failure") ?? 0
    guard limit > 0, count > max(0, most) else { return 0 }
    let others = try failures(context, CountedFailures.others)
    let excess = min(count - Int64(max(0, most)) - (others == nil ? 0 : 1), Int64(limit))
    guard excess > 0 else { return 0 }
    // By their columns alone: a row that does not verify counts for nobody, and going is all that happens to it.
    let least = try context.all(
      """
      SELECT rowid, failures FROM login_failure WHERE subject <> \(CountedFailures.others)
      ORDER BY failures, last LIMIT \(excess)
      """
    ) { (row: try $0.integer(0), count: try $0.integer(1)) }
    for one in least { try context.run("DELETE FROM login_failure WHERE rowid = \(one.row)") }
    let greatest = Int(clamping: max(0, least.last?.count ?? 0))
    try put(
      context, Tables.loginFailures,
      CountedFailures(
        subject: CountedFailures.others,
        failures: LoginThrottle.others(others?.record.failures, forgetting: greatest, at: now)), over: others)
    return least.count
  }

  fileprivate func failures<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ subject: String
  ) throws -> Stored<CountedFailures>? {
    try one(
      context, Tables.loginFailures, "\(all: Tables.loginFailures) WHERE subject = \(subject)")
  }
}
