public import PairingStore
import SQLite

extension SQLiteStore {
  /// Appends a line.
  public func append(_ entry: AuditEntry) async throws(StoreError) {
    try await write { context, rows in try rows.note(context, entry) }
  }

  /// The lines after a number.
  public func audit(after number: Int64, limit: Int) async throws(StoreError)
    -> [NumberedAuditEntry]
  {
    try await read { context, rows in
      try rows.first(
        limit, context, Tables.audit,
        "\(all: Tables.audit) WHERE number > \(number) ORDER BY number")
    }
  }

  /// The number of the newest line.
  public func newestAuditNumber() async throws(StoreError) -> Int64 {
    try await read { context, _ in
      try context.value("SELECT coalesce(max(number), 0) FROM audit") ?? 0
    }
  }
}
