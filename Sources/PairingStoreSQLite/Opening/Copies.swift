public import PairingStore
import RegentCryptography
import SQLite

extension SQLiteStore {
  /// Writes a copy of everything as it is at one moment, while the service goes on; its integrity is checked.
  ///
  /// Blocks the caller. The copy is sealed with the same master key. ``verifyRows(step:)`` on a store that was opened
  /// on it says whether every row is signed as it must be.
  ///
  /// - Throws: `FileError`, `SQLiteError` or `BackupFailure`.
  public func backup(to path: String) throws { try database.backup(to: path) }

  /// The seal of a backup with this hash: whoever has not the master key cannot make it.
  public func seal(ofBackup hash: [UInt8]) throws -> [UInt8] { try vault.backupKey().code(hash) }

  /// Whether that is the seal of a backup with this hash.
  public func isSeal(_ seal: [UInt8], ofBackup hash: [UInt8]) throws -> Bool {
    try vault.backupKey().isValid(seal, for: hash)
  }

  /// The number of the newest step of the schema in files of version 0.1.0, whose backups have no seal.
  public static var newestUnsealedSchema: UInt32 { 2 }

  /// SQLite's words for what is damaged in the open file; empty when all is well.
  ///
  /// - Throws: `DatabaseFailure` or `SQLiteError`.
  public func integrityProblems() async throws -> [String] {
    try await database.integrityProblems()
  }

  /// Begins a new epoch in a state that was put back: codes, phone sessions, invitations and grants of it do not come
  /// back.
  ///
  /// A code that was redeemed after the copy was made would be redeemed a second time, and a browser that was signed
  /// out since would be signed in. Devices stay signed in.
  public func beginEpoch(audit entry: AuditEntry) async throws(StoreError) {
    try await write { context, rows in
      try context.run("DELETE FROM registration")
      try context.run("DELETE FROM session")
      // One that was used since would count as unused.
      try context.run("DELETE FROM enrolment")
      try context.run("DELETE FROM client_invitation")
      // Its refresh tokens were used since: the latest would be unknown, and the one before would count again.
      _ = try rows.endGrants(context, GrantFilter())
      try rows.note(context, entry)
    }
  }
}
