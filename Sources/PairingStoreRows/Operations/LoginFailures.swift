public import PairingStore
public import RegentPairing
import RegentSQL

extension RowStore {
  public func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures? {
    try await read { context, rows in try rows.failures(context, subject.key(rows.vault))?.record.failures }
  }

  public func recordLoginFailure(of subject: LoginSubject, at now: Instant)
    async throws(StoreError) -> LoginFailures
  {
    let isOnReserve = await isOnReserve
    return try await write(mayUseReserve: true) { context, rows in
      try rows.countFailure(
        context, subject, over: rows.failures(context, subject.key(rows.vault)), isOnReserve: isOnReserve, at: now)
    }
  }

  public func takeLoginTry(of subject: LoginSubject, free: Int, at now: Instant) async throws(StoreError) -> LoginTry? {
    let isOnReserve = await isOnReserve
    return try await write(mayUseReserve: true) { context, rows in
      let stored = try rows.failures(context, subject.key(rows.vault))
      guard LoginThrottle.pause(after: stored?.record.failures, free: free, at: now) == nil else { return nil }
      let after = try rows.countFailure(context, subject, over: stored, isOnReserve: isOnReserve, at: now)
      return LoginTry(before: stored?.record.failures, after: after)
    }
  }

  public func giveBack(_ counted: LoginTry, of subject: LoginSubject) async throws(StoreError) {
    let key = subject.key(vault)
    try await write(mayUseReserve: true) { context, rows in
      guard let stored = try rows.failures(context, key) else { return }
      guard let left = LoginThrottle.givingBack(counted, from: stored.record.failures) else {
        try context.run("DELETE FROM login_failure WHERE subject = \(key)")
        return
      }
      try rows.put(context, Tables.loginFailures, CountedFailures(subject: key, failures: left), over: stored)
    }
  }

  public func clearLoginFailures(of subject: LoginSubject) async throws(StoreError) {
    let key = subject.key(vault)
    // A read transaction checks first whether a counter exists: most sign-ins follow no failure, and then nothing is
    // written to disk.
    let isThere = try await read { context, _ in
      try context.exists("SELECT 1 FROM login_failure WHERE subject = \(key)")
    }
    guard isThere else { return }
    try await write(mayUseReserve: true) { context, _ in
      try context.run("DELETE FROM login_failure WHERE subject = \(key)")
      return
    }
  }
}

extension SignedRows {
  /// When the store has too many failure counters, it deletes those with the fewest failures, and remembers the highest
  /// count among them.
  func forgetFailures(
    _ context: borrowing WriteContext, beyond most: Int, at now: Instant, limit: Int
  ) throws -> Int {
    let count: Int64 = try context.value("SELECT count(*) FROM login_failure") ?? 0
    guard limit > 0, count > max(0, most) else { return 0 }
    let others = try failures(context, CountedFailures.others)
    let excess = min(count - Int64(max(0, most)) - (others == nil ? 0 : 1), Int64(limit))
    guard excess > 0 else { return 0 }
    // Reads the columns without verification: a row that fails verification has no effect, and the only thing that
    // happens to it here is its deletion.
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

  /// Deletes one counter when there are a thousand, so that a new one takes no space from the reserve of the disk.
  ///
  /// An attacker can try any number of names from any number of addresses. Of the oldest 64 counters, the one with the
  /// fewest failures goes: the counter of an attacked account is new, because each try renews it.
  private func makeRoomForFailure(_ context: borrowing WriteContext) throws {
    let some: Int64 = try context.value("SELECT count(*) FROM (SELECT 1 FROM login_failure LIMIT 1000) AS some") ?? 0
    guard some >= 1000 else { return }
    let oldest = try context.all(
      """
      SELECT rowid, failures FROM login_failure WHERE subject <> \(CountedFailures.others) ORDER BY last LIMIT 64
      """
    ) { (row: try $0.integer(0), count: try $0.integer(1)) }
    guard let least = oldest.min(by: { $0.count < $1.count }) else { return }
    try context.run("DELETE FROM login_failure WHERE rowid = \(least.row)")
  }

  fileprivate func countFailure(
    _ context: borrowing WriteContext, _ subject: LoginSubject, over stored: Stored<CountedFailures>?,
    isOnReserve: Bool, at now: Instant
  ) throws -> LoginFailures {
    if isOnReserve, stored == nil { try makeRoomForFailure(context) }
    let before = try stored ?? (subject.inherits ? failures(context, CountedFailures.others) : nil)
    let after = LoginThrottle.adding(to: before?.record.failures, at: now)
    try put(
      context, Tables.loginFailures, CountedFailures(subject: subject.key(vault), failures: after), over: stored)
    return after
  }

  fileprivate func failures<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ subject: String
  ) throws -> Stored<CountedFailures>? {
    try one(
      context, Tables.loginFailures, "\(all: Tables.loginFailures) WHERE subject = \(subject)")
  }
}
