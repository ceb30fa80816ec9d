import RegentHTTPCodec
import RegentPlatform

/// A checked backup that is to take the place of the database.
///
/// A database is two files while it was not closed cleanly, and no single step exchanges both: the log of the old one
/// would be played into the new one, or be missing from the old one. So the new one first gets a name that says that it
/// is decided; whoever opens the database next, after a crash too, finishes what this name stands for.
struct RestoredDatabase {
  private let database: String
  private var decided: String { "\(database).restored" }

  init(of database: String) { self.database = database }

  /// The file that the next start opens: the backup when a restore was cut short after it was decided; nil before the
  /// first start.
  func there() throws -> String? {
    for path in [decided, database] where try PrivateFile.check(path) { return path }
    return nil
  }

  /// Keeps the database that is there under another name and puts the draft in its place.
  ///
  /// The caller holds the lock of the database.
  ///
  /// - Returns: where the old one is kept, when there was one.
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

  /// Finishes a restore that a crash cut short after it was decided; without one nothing happens.
  func finish() throws {
    guard try PrivateFile.check(decided) else { return }
    let lock = try FileLock(beside: database)
    // Whoever held the lock may have finished it.
    if try PrivateFile.check(decided) { try putInPlace() }
    lock.release()
  }

  private func putInPlace() throws {
    for suffix in ["-wal", "-shm"] { try DurableFile.remove(database + suffix) }
    try DurableFile.rename(decided, over: database)
  }
}
