public import PairingStore
import RegentCryptography
import SQLite

extension SQLiteStore {
  /// Writes a copy of the database as of one moment, while the service goes on, and checks the copy's integrity.
  ///
  /// Blocks the caller. The copy is encrypted with the same master key. To check its signatures, open a store on it and
  /// call ``verifyRows(step:)``.
  ///
  /// - Throws: `FileError`, `SQLiteError` or `BackupFailure`.
  public func backup(to path: String) throws { try database.backup(to: path) }

  /// The message authentication code of a backup whose file has this hash.
  ///
  /// It cannot be computed without the master key.
  public func seal(ofBackup hash: [UInt8]) throws -> [UInt8] { try vault.backupKey().code(hash) }

  /// Whether `seal` is the message authentication code of a backup whose file has this hash.
  public func isSeal(_ seal: [UInt8], ofBackup hash: [UInt8]) throws -> Bool {
    try vault.backupKey().isValid(seal, for: hash)
  }

  /// The newest schema version of release 0.1.0, whose backups have no authentication code.
  public static var newestUnsealedSchema: UInt32 { 2 }

  /// SQLite's messages about damage in the open file; empty when the file is intact.
  ///
  /// - Throws: `DatabaseFailure` or `SQLiteError`.
  public func integrityProblems() async throws -> [String] {
    try await database.integrityProblems()
  }

  /// Deletes state from a restored backup that must not become valid again: codes, phone sessions, invitations and
  /// grants.
  ///
  /// Otherwise a code that was redeemed after the backup could be redeemed again, and a browser that signed out after
  /// the backup would be signed in again. Devices stay signed in.
  public func beginEpoch(audit entry: AuditEntry) async throws(StoreError) {
    try await write { context, rows in
      try context.run("DELETE FROM registration")
      try context.run("DELETE FROM session")
      // The restored counts are old: an invitation that was used since the backup could be used once more.
      try context.run("DELETE FROM enrolment")
      try context.run("DELETE FROM client_invitation")
      // Refresh tokens were exchanged since the backup. The store would not know the latest ones, and would accept
      // earlier ones again.
      _ = try rows.endGrants(context, GrantFilter())
      try rows.note(context, entry)
    }
  }
}
