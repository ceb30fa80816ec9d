public import RegentPairing

/// The audit log: append only, numbered without gaps, forgotten from its beginning.
///
/// Of a full log the lines that strangers caused go first, and one line stands for them.
public protocol AuditStore: Sendable {
  /// Appends a line.
  func append(_ entry: AuditEntry) async throws(StoreError)

  /// The lines after a number, oldest first.
  func audit(after number: Int64, limit: Int) async throws(StoreError) -> [NumberedAuditEntry]

  /// The number of the newest line; zero when there is none.
  func newestAuditNumber() async throws(StoreError) -> Int64

  /// Forgets the oldest lines, at most `limit`, that are too old. When there are too many, the oldest of those go that
  /// strangers caused (``AuditEntry/isOfStranger``), and the oldest of all only when that is not enough.
  ///
  /// - Returns: how many went.
  func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int) async throws(StoreError) -> Int
}
