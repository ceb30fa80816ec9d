/// A migration: one step from one schema version to the next.
///
/// Once released, a migration must never be changed, renamed or removed.
public struct Migration: Sendable {
  /// Migrates some rows of a long migration, starting at the place `from`, in a transaction of its own.
  ///
  /// Returns the place where the next part starts, or nil when no rows are left.
  public typealias Part = @Sendable (_ context: borrowing WriteContext, _ from: Int64) throws -> Int64?

  /// The name of the migration.
  ///
  /// It is stored in the database and compared whenever the database is opened.
  public let name: String
  let apply: @Sendable (borrowing WriteContext) throws -> Void
  let part: Part?

  /// A migration that runs in one transaction.
  public init(_ name: String, _ apply: @escaping @Sendable (borrowing WriteContext) throws -> Void) {
    self.name = name
    self.apply = apply
    part = nil
  }

  /// A migration of so many rows that one transaction's log would grow as large as the table.
  ///
  /// - Parameters:
  ///   - name: the name to record.
  ///   - apply: runs first, in one transaction with the record that the migration has begun.
  ///   - part: runs repeatedly, first with the smallest `Int64`. If the program ends before the last part, the next
  ///     opening continues after the last committed part, before any other code reads the database.
  public init(
    _ name: String, first apply: @escaping @Sendable (borrowing WriteContext) throws -> Void = { _ in },
    inParts part: @escaping Part
  ) {
    self.name = name
    self.apply = apply
    self.part = part
  }
}

/// The progress of a migration.
public struct MigrationProgress: Hashable, Sendable {
  /// The name of the migration that is running.
  public let step: String
  /// How many parts of the migration are done.
  public let parts: Int
}

extension Connection {
  /// Rolls back the open transaction after a failure.
  ///
  /// Errors of the rollback are recorded but not thrown: the caller reports the failure.
  borrowing func abandonTransaction() {
    guard isInTransaction else { return }
    do throws(SQLiteError) { try run("ROLLBACK") } catch { _ = noted(error) }
  }

  borrowing func keepReferencesAgain() {
    do throws(SQLiteError) { try run("PRAGMA foreign_keys = ON") } catch { _ = noted(error) }
  }
}
