// PairingStoreRows: the database-independent part of the stores: the tables, the signatures and encryption of their
// rows, and the store operations of the contract as queries and writes within a transaction. The folder is no target of
// its own: each adapter contains a link to it and compiles it with its own types
// (docs/decisions/0015-one-set-of-verbs.md).
//
// An adapter must define these names:
// - `RowStore`: its store, with `database`, `vault`, `known`, `tamperLog`, `liveCodes`, `wallClock`,
//   `transaction(asking:thenAsking:)` and `requireMoreThanReserve()`.
// - `ReadContext` and `WriteContext`, which conform to `Querying`, and their `Row`.
// - `changed`, which records what a write must tell other nodes, and `writtenAuditHead`.
// - `DatabaseError`.
// - `Dialect`: the SQL fragments that differ between the two databases.
//
// Start with Operations/. A row that fails verification is dropped in Rows/SignedRows.swift.

package import PairingStore
import RegentSQL

// MARK: - How store operations reach the database

extension RowStore {
  /// Runs a store operation that writes, in one transaction.
  ///
  /// `asking` lists queries that the operation will need, and `thenAsking` more queries that depend on their results.
  /// PostgreSQL gets each list in one batch before the operation runs, which saves round trips; SQLite ignores both
  /// lists. The result of the operation does not depend on them.
  ///
  /// The operation fails with `diskFull` when only the reserve of the disk is free, unless it `mayUseReserve`. Only
  /// operators, sign-outs, refusals and upkeep may, and changes that add no row.
  package func write<Value: Sendable>(
    mayUseReserve: Bool = false,
    asking questions: (@Sendable () -> [Question])? = nil,
    thenAsking more: (@Sendable (borrowing ReadContext) throws -> [Question])? = nil,
    _ body: @escaping @Sendable (borrowing WriteContext, SignedRows) throws -> Value
  ) async throws(StoreError) -> Value {
    if !mayUseReserve { try await requireMoreThanReserve() }
    let (vault, tamperLog, known) = (vault, tamperLog, known)
    return try await answer {
      try await self.transaction(asking: questions, thenAsking: more) { context in
        let rows = SignedRows(vault, known)
        defer { tamperLog.add(rows.tampered) }
        return try body(context, rows)
      }
    }
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext, SignedRows) throws -> Value
  ) async throws(StoreError) -> Value {
    let (vault, tamperLog, known) = (vault, tamperLog, known)
    return try await answer {
      try await self.database.read { context in
        let rows = SignedRows(vault, known)
        defer { tamperLog.add(rows.tampered) }
        return try body(context, rows)
      }
    }
  }

  private func answer<Value: Sendable>(_ ask: () async throws -> Value)
    async throws(StoreError) -> Value
  {
    let result: Result<Value, StoreError>
    do {
      result = .success(try await ask())
    } catch {
      result = .failure(StoreError(of: error))
    }
    await auditTampering()
    return try result.get()
  }

  /// Writes audit lines about rows that failed verification.
  ///
  /// It uses a transaction of its own, because the transaction that found the rows may have been rolled back.
  private func auditTampering() async {
    let tampered = tamperLog.take()
    guard !tampered.isEmpty else { return }
    let (vault, known, now) = (vault, known, wallClock())
    do {
      try await database.write { context in
        let rows = SignedRows(vault, known)
        for row in tampered { try rows.note(context, row.entry(at: now)) }
      }
    } catch {
      // The next store operation tries again to write these audit lines.
      tamperLog.putBack(tampered)
    }
  }
}

/// A page of a table's rows, as a reader of the whole table gets it.
struct TablePage {
  /// The number of rows on this page, including rows that fail verification.
  let count: Int
  /// The SQL condition that selects the rows of this page.
  let condition: SQL
  /// The position at which the next page begins; nil for the last page.
  let next: Int64?
}
