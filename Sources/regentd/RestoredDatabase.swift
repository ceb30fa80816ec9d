import RegentHTTPCodec
import RegentPlatform

/// A checked backup that replaces the database.
///
/// A database that was not closed cleanly consists of two files, and no single step replaces both: the old log could be
/// applied to the new database, or be missing from the old one. Therefore the new file first gets a name that marks the
/// restore as decided. The next process that opens the database, also after a crash, completes the exchange.
struct RestoredDatabase {
  private let database: String
  private var decided: String { "\(database).restored" }

  init(of database: String) { self.database = database }

  /// The file that the next start opens: the backup, if a restore was interrupted after the decision.
  ///
  /// Nil before the first start.
  func there() throws -> String? {
    for path in [decided, database] where try PrivateFile.check(path) { return path }
    return nil
  }

  /// Keeps the existing database under another name and moves the draft to its place.
  ///
  /// The caller holds the lock of the database.
  ///
  /// - Returns: the path where the old database is kept, if there was one.
  func exchange(for draft: String) throws -> String? {
    var kept: String?
    if try PrivateFile.check(database) {
      let stamp = CivilDate.text(epochMilliseconds: Clocks.wallMilliseconds(), fraction: true)
      let name = "\(database).before-\(stamp.filter { $0 != ":" })"
      try DurableFile.keep(database, as: name)
      if try PrivateFile.check("\(database)-wal") {
        try DurableFile.keep("\(database)-wal", as: "\(name)-wal")
      }
      kept = name
    }
    try DurableFile.rename(draft, over: decided)
    try putInPlace()
    return kept
  }

  /// Completes a restore that was interrupted after the new file got the name that decides the restore.
  ///
  /// Does nothing if no restore was interrupted.
  func finish() throws {
    guard try PrivateFile.check(decided) else { return }
    let lock = try FileLock(beside: database)
    // Another process may have completed the restore while this one waited for the lock.
    if try PrivateFile.check(decided) { try putInPlace() }
    lock.release()
  }

  private func putInPlace() throws {
    for suffix in ["-wal", "-shm"] { try DurableFile.remove(database + suffix) }
    try DurableFile.rename(decided, over: database)
  }
}
