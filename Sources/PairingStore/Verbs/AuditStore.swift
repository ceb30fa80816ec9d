/// The audit log: append only, numbered without gaps.
public protocol AuditStore: Sendable {
  /// Appends a line.
  func append(_ entry: AuditEntry) async throws(StoreError)

  /// The lines after a number, oldest first.
  func audit(after number: Int64, limit: Int) async throws(StoreError) -> [NumberedAuditEntry]

  /// The number of the newest line; zero when there is none.
  func newestAuditNumber() async throws(StoreError) -> Int64
}
