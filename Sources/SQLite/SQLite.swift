// SQLite: connections, statements, the single writer thread with group commit, the reader pool, migrations and backup.
// It knows none of Regent's tables; those are in PairingStoreRows.

import CSQLite
@_exported public import RegentSQL

/// The SQLite library that this program has loaded.
public enum SQLiteLibrary {
  /// The version of the library that was loaded, for example "3.40.1".
  public static var version: String { unsafe String(cString: sqlite3_libversion()) }

  /// Whether this version can corrupt a file when a checkpoint races with a write that restarts the log.
  ///
  /// Versions 3.7.0 to 3.51.2 have this fault (the "WAL-reset" bug, found in March 2026). Debian 12 ships 3.40.1.
  public static var hasLogResetFault: Bool {
    SQLiteLibrary.hasLogResetFault(number: Int(sqlite3_libversion_number()))
  }

  /// A sentence for the log: the version of SQLite, and the rule about checkpoints that this target follows because of
  /// it.
  public static var ruleInForce: String {
    hasLogResetFault
      ? "SQLite \(version) has the WAL-reset fault (3.7.0 to 3.51.2): one connection does all writes and all "
        + "checkpoints, and nothing else may write or checkpoint this file while the service runs"
      : "SQLite \(version) is free of the WAL-reset fault; all writes and checkpoints stay on one connection all the same"
  }

  static func hasLogResetFault(number: Int) -> Bool { (3_007_000...3_051_002).contains(number) }

  /// Applies process-wide settings that SQLite accepts only before its first use.
  ///
  /// Later calls do nothing.
  ///
  /// - Returns: whether the settings are in force.
  @discardableResult
  package static func prepare() -> Bool { prepared }

  private static let prepared: Bool = {
    // Savepoints keep the old page images in memory. By default SQLite spills them, secrets included, to a file in
    // /tmp.
    let spill = csqlite_configure_int(SQLITE_CONFIG_STMTJRNL_SPILL, -1)
    // Counting memory use costs one global lock per allocation, and this program does not read the counters.
    let counters = csqlite_configure_int(SQLITE_CONFIG_MEMSTATUS, 0)
    return spill == SQLITE_OK && counters == SQLITE_OK && sqlite3_initialize() == SQLITE_OK
  }()
}
