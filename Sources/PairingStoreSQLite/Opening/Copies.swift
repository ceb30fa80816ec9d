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

  /// The authentication code of a backup with this hash.
  ///
  /// It cannot be computed without the master key.
  public func seal(ofBackup hash: [UInt8]) throws -> [UInt8] { try vault.backupKey().code(hash) }

  /// Whether `seal` is the authentication code of a backup with this hash.
  public func isSeal(_ seal: [UInt8], ofBackup hash: [UInt8]) throws -> Bool {
    try vault.backupKey().isValid(seal, for: hash)
  }

  /// The newest schema version of release 0.1.0, whose backups have no authentication code.
  public static var newestUnsealedSchema: UInt32 { 2 }

  /// SQLite's messages about damage in the open file; empty when there is none.
  ///
  /// - Throws: `DatabaseFailure` or `SQLiteError`.
  public func integrityProblems() async throws -> [String] {
    try await database.integrityProblems()
  }

  /// Deletes state from a restored backup that must not become valid again: codes, phone sessions, invitations and
  /// grants.
  ///
  /// Otherwise a code that was redeemed after the backup could be redeemed again, and a browser that was signed out
  /// since would be signed in. Devices stay signed in.
  public func beginEpoch(audit entry: AuditEntry) async throws(StoreError) {
    try await write { context, rows in
      try context.run("DELETE FROM registration")
      try context.run("DELETE FROM session")
      // Invitations that were used since the backup would count as unused.
      try context.run("DELETE FROM enrolment")
      try context.run("DELETE FROM client_invitation")
      // Refresh tokens were used since the backup: the latest ones would be unknown, and earlier ones would be accepted
      // again.
      _ = try rows.endGrants(context, GrantFilter())
      try rows.note(context, entry)
    }
  }
}
