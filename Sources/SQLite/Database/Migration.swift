/// One step from one schema to the next.
///
/// Once released, a step is never changed, renamed or removed.
public struct Migration: Sendable {
  /// One part of a long step, in a transaction of its own: from a place to the next one; nil when nothing is left.
  public typealias Part = @Sendable (_ context: borrowing WriteContext, _ from: Int64) throws -> Int64?

  /// Recorded in the file.
  public let name: String
  let apply: @Sendable (borrowing WriteContext) throws -> Void
  let part: Part?

  /// A step that is one transaction.
  public init(_ name: String, _ apply: @escaping @Sendable (borrowing WriteContext) throws -> Void) {
    self.name = name
    self.apply = apply
    part = nil
  }

  /// A step that goes through many rows: too much for one transaction, whose log would grow as large as the table.
  ///
  /// - Parameters:
  ///   - name: the step's name.
  ///   - apply: what is done first, in one transaction with the note that the step has begun.
  ///   - part: goes on from a place, at first from the smallest number there is. A program that ends in between goes on
  ///     from the last part that was committed when it opens the file again, before anybody else reads it.
  public init(
    _ name: String, first apply: @escaping @Sendable (borrowing WriteContext) throws -> Void = { _ in },
    inParts part: @escaping Part
  ) {
    self.name = name
    self.apply = apply
    self.part = part
  }
}

/// How far bringing a file to the program's schema has come.
public struct MigrationProgress: Hashable, Sendable {
  /// The step that runs.
  public let step: String
  /// How many parts of it are done.
  public let parts: Int
}

extension Connection {
  /// Rolls back after a failure, whose error is the one to report.
  borrowing func abandonTransaction() {
    guard isInTransaction else { return }
    do throws(SQLiteError) { try run("ROLLBACK") } catch { _ = noted(error) }
  }

  borrowing func keepReferencesAgain() {
    do throws(SQLiteError) { try run("PRAGMA foreign_keys = ON") } catch { _ = noted(error) }
  }
}
