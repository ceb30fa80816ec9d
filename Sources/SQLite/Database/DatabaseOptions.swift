public struct DatabaseOptions: Sendable {
  /// The path of the database file.
  ///
  /// The file is created if it is missing (mode 0600), and so is its directory (0700).
  public var path: String
  /// A number in the file's header that identifies the program.
  ///
  /// Files of other programs are refused.
  public var applicationID: Int32
  /// The migrations that make the schema, oldest first.
  public var migrations: [Migration]
  /// The exact schema after the newest migration; the file is refused if it differs.
  ///
  /// `nil` means no check.
  public var schema: DatabaseSchema?
  /// Called on the opening thread when a migration of an existing file begins, and after each part of a long migration.
  public var onMigration: @Sendable (MigrationProgress) -> Void = { _ in }
  /// The number of reader threads.
  public var readers = 2
  /// The maximum number of reads that may be queued.
  ///
  /// Further ones are refused at once.
  public var readQueueCapacity = 1_000
  public var writer = WriterLimits()
  /// Which changes of rows advance ``Database/mark``.
  ///
  /// By default no changes do.
  ///
  /// Called for each row that is written, on the writer thread. SQLite does not report the rows that a `DELETE` without
  /// a condition removes, nor those that a `REPLACE` removes, so they do not count.
  public var moves: @Sendable (_ table: String, _ change: RowChange) -> Bool = { _, _ in false }
  /// Called once, on the writer thread, after a failure has stopped the writer for good and its requests are answered.
  ///
  /// The program should exit: opening the database again shows what was written.
  public var onFailStop: @Sendable (SQLiteError) -> Void = { _ in }
  /// The name of a registered file layer (VFS); `nil` is SQLite's own.
  ///
  /// Only tests set it.
  package var fileLayer: String?

  public enum RowChange: Sendable {
    case insert, update, delete
  }

  public init(path: String, applicationID: Int32, migrations: [Migration]) {
    self.path = path
    self.applicationID = applicationID
    self.migrations = migrations
  }
}
