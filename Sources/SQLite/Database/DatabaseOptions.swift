/// How a database is opened.
public struct DatabaseOptions: Sendable {
  /// The file.
  ///
  /// Its directory is made when missing (0700), and so is the file (0600).
  public var path: String
  /// A number of the program's own in the file's header: the file of another program is refused.
  public var applicationID: Int32
  /// The steps that make the schema, oldest first.
  public var migrations: [Migration]
  /// What the file must consist of once it is at the newest step, and nothing else; `nil` does not look.
  public var schema: DatabaseSchema?
  /// Called on the opening thread when a step begins on a file that holds something, and after each part of a long one.
  public var onMigration: @Sendable (MigrationProgress) -> Void = { _ in }
  /// How many reads run at the same time.
  public var readers = 2
  /// The most reads that may wait; more are refused at once.
  public var readQueueCapacity = 1_000
  /// How much the writer does at once.
  public var writer = WriterLimits()
  /// Which changes of rows move ``Database/mark`` on; none unless it is said.
  ///
  /// Asked for each row that is written, on the writer thread. A `DELETE` without a condition and what a `REPLACE`
  /// pushes out are not asked about: SQLite tells of neither.
  public var moves: @Sendable (_ table: String, _ change: RowChange) -> Bool = { _, _ in false }
  /// Called once, on the writer thread, after a failure that stopped the writer for good and after its answers are out.
  ///
  /// The program should end itself: opening the database again settles what was written.
  public var onFailStop: @Sendable (SQLiteError) -> Void = { _ in }
  /// The name of the registered file layer (VFS) below the connections; `nil`, as in every program, is SQLite's own.
  package var fileLayer: String?

  /// What happens to a row.
  public enum RowChange: Sendable {
    case insert, update, delete
  }

  /// Options for a file with its schema.
  public init(path: String, applicationID: Int32, migrations: [Migration]) {
    self.path = path
    self.applicationID = applicationID
    self.migrations = migrations
  }
}
