public import RegentPairing

/// The audit log.
///
/// Lines are numbered without gaps, only appended, and deleted from the oldest on. When the log is full, the store
/// first deletes lines that untrusted clients caused. A summary line replaces each sequence of deleted lines.
public protocol AuditStore: Sendable {
  func append(_ entry: AuditEntry) async throws(StoreError)

  func audit(after number: Int64, limit: Int) async throws(StoreError) -> [NumberedAuditEntry]

  /// The number of the newest audit line; zero when the log is empty.
  func newestAuditNumber() async throws(StoreError) -> Int64

  /// Deletes up to `limit` of the oldest audit lines that have passed their age.
  ///
  /// When the log has too many lines, it deletes lines that untrusted clients caused (``AuditEntry/isOfStranger``)
  /// first, and the oldest of all lines only when that is not enough.
  ///
  /// - Returns: the number of deleted lines.
  func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int) async throws(StoreError) -> Int
}
