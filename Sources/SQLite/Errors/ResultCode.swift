import CSQLite

/// SQLite's extended result code of a call, including codes that have no name here.
public struct ResultCode: Hashable, Sendable {
  public let number: Int32

  public init(_ number: Int32) { self.number = number }

  /// The primary code of an extended result code, for example `constraint` for each kind of constraint.
  public var primary: ResultCode { ResultCode(number & 0xff) }

  /// Compares result codes by kind: `case .constraint` also matches its extended codes.
  public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
    pattern == code || pattern == code.primary
  }
}

extension ResultCode {
  /// A mistake in the SQL or a missing database object.
  public static let error = ResultCode(SQLITE_ERROR)
  /// The change violates a constraint.
  ///
  /// The statement changed nothing.
  public static let constraint = ResultCode(SQLITE_CONSTRAINT)
  /// A unique index other than the primary key already holds the value.
  public static let constraintUnique = constraint.refined(8)
  /// The primary key already holds the value.
  public static let constraintPrimaryKey = constraint.refined(6)
  /// A foreign key refers to a row that does not exist.
  public static let constraintForeignKey = constraint.refined(3)
  /// The change violates a `CHECK` constraint.
  public static let constraintCheck = constraint.refined(1)
  /// The change leaves a `NOT NULL` column without a value.
  public static let constraintNotNull = constraint.refined(5)
  /// The file system is full.
  public static let full = ResultCode(SQLITE_FULL)
  /// The operating system failed to read, write or synchronise.
  public static let inputOutput = ResultCode(SQLITE_IOERR)
  /// The operating system failed to write.
  ///
  /// SQLite reports a full disk separately as `full`, but not an exceeded quota.
  public static let write = inputOutput.refined(3)
  /// The database file is damaged.
  public static let corrupt = ResultCode(SQLITE_CORRUPT)
  /// The file is not a database.
  public static let notADatabase = ResultCode(SQLITE_NOTADB)
  /// Another connection holds the lock of the database.
  public static let busy = ResultCode(SQLITE_BUSY)
  /// The statement was interrupted because the database is being closed.
  public static let interrupted = ResultCode(SQLITE_INTERRUPT)
  /// The connection or the file is read-only.
  public static let readOnly = ResultCode(SQLITE_READONLY)
  /// The database file was removed, renamed or replaced after it was opened.
  public static let moved = readOnly.refined(4)
  /// The value has another type than the code that reads it expects.
  public static let mismatch = ResultCode(SQLITE_MISMATCH)
  /// A value or statement exceeds the size limits.
  public static let tooBig = ResultCode(SQLITE_TOOBIG)
  /// The program used SQLite incorrectly.
  public static let misuse = ResultCode(SQLITE_MISUSE)
  /// The column or parameter number does not exist.
  public static let range = ResultCode(SQLITE_RANGE)
  /// The authorizer does not allow the statement.
  public static let notAuthorised = ResultCode(SQLITE_AUTH)
  public static let cannotOpen = ResultCode(SQLITE_CANTOPEN)
  public static let noMemory = ResultCode(SQLITE_NOMEM)

  // sqlite3.h composes the extended codes with shifts, which Swift does not import.
  private func refined(_ detail: Int32) -> ResultCode { ResultCode(number | detail << 8) }

  /// Whether the results of the connection cannot be trusted after this error.
  ///
  /// The writer then stops for good.
  var isFatal: Bool {
    switch self {
    case .inputOutput, .corrupt, .notADatabase: true
    default: false
    }
  }
}
