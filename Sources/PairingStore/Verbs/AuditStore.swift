public import RegentPairing

/// The audit log.
///
/// Lines are only appended, numbered without gaps, and deleted from the oldest on.
///
/// From a full log, lines that untrusted clients caused are deleted first; a summary line replaces each run of them.
public protocol AuditStore: Sendable {
  func append(_ entry: AuditEntry) async throws(StoreError)

  func audit(after number: Int64, limit: Int) async throws(StoreError) -> [NumberedAuditEntry]

  /// The number of the newest line; zero when the log is empty.
  func newestAuditNumber() async throws(StoreError) -> Int64

  /// Deletes up to `limit` of the oldest lines that have passed their age.
  ///
  /// When the log has too many lines, it deletes lines that untrusted clients caused (``AuditEntry/isOfStranger``)
  /// first, and the oldest of all lines only when that is not enough.
  ///
  /// - Returns: the number of deleted lines.
  func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int) async throws(StoreError) -> Int
}
