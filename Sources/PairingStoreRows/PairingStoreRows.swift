// PairingStoreRows: how records become rows of any database: the tables, the signatures and seals of their rows, and
// the verbs of the contract as what they ask and write in a transaction. It knows no database, and is no target: each
// adapter compiles these sources with its own (the folder stands in it as a link;
// docs/decisions/0015-one-set-of-verbs.md).
//
// What an adapter gives them, by these names: `RowStore`, its store with `database`, `vault`, `known`, `tamperLog`,
// `liveCodes`, `wallClock` and `transaction(asking:thenAsking:)`; `ReadContext` and `WriteContext`, which are
// `Querying`, and their `Row`; `changed`, what a write tells other nodes; `writtenAuditHead`; `DatabaseError`; and
// `Dialect`, the few words that two databases do not share. Start with Verbs/; Rows/SignedRows.swift is where a row
// that does not verify stops existing.

package import PairingStore
import RegentSQL

// MARK: - How verbs reach the database

extension RowStore {
  /// Runs a verb that writes; `asking` names questions that it asks, which it may ask all the same without, and
  /// `thenAsking` those that can be named once these are answered.
  package func write<Value: Sendable>(
    asking questions: (@Sendable () -> [Question])? = nil,
    thenAsking more: (@Sendable (borrowing ReadContext) throws -> [Question])? = nil,
    _ body: @escaping @Sendable (borrowing WriteContext, SignedRows) throws -> Value
  ) async throws(StoreError) -> Value {
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

  /// Tells of rows that did not verify, in a transaction of its own: the verb that met them may have been undone.
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
      // Not lost: the next verb tries again.
      tamperLog.putBack(tampered)
    }
  }
}

/// Some rows of a table, as they lie in the database: what a walk over all of it looks at in one go.
struct TablePage {
  /// How many there are, whatever they are worth.
  let count: Int
  /// The condition that finds them.
  let condition: SQL
  /// Where the next page begins; `nil` behind the last.
  let next: Int64?
}
