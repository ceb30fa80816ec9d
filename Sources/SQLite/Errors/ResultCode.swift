import CSQLite

/// What SQLite says about a call: the extended result code, also one that this program does not know.
public struct ResultCode: Hashable, Sendable {
  /// SQLite's number.
  public let number: Int32

  /// The code with SQLite's number.
  public init(_ number: Int32) { self.number = number }

  /// The general kind of an extended code: `constraint` for every constraint that there is.
  public var primary: ResultCode { ResultCode(number & 0xff) }

  /// The code's kind, so that `case .constraint` also matches its refinements.
  public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
    pattern == code || pattern == code.primary
  }
}

extension ResultCode {
  /// A mistake in SQL or a wrong use of the database.
  public static let error = ResultCode(SQLITE_ERROR)
  /// A rule of the schema forbids the change; the statement changed nothing.
  public static let constraint = ResultCode(SQLITE_CONSTRAINT)
  /// A primary key or unique index already holds the value.
  public static let constraintUnique = constraint.refined(8)
  /// A primary key already holds the value.
  public static let constraintPrimaryKey = constraint.refined(6)
  /// A row points to one that is not there.
  public static let constraintForeignKey = constraint.refined(3)
  /// A `CHECK` clause is not fulfilled.
  public static let constraintCheck = constraint.refined(1)
  /// A column that must have a value got none.
  public static let constraintNotNull = constraint.refined(5)
  /// No space is left on the file system.
  public static let full = ResultCode(SQLITE_FULL)
  /// The operating system failed to read, write or synchronise.
  public static let inputOutput = ResultCode(SQLITE_IOERR)
  /// The operating system failed to write; SQLite tells a full disk apart, but not a quota.
  public static let write = inputOutput.refined(3)
  /// The file is damaged.
  public static let corrupt = ResultCode(SQLITE_CORRUPT)
  /// The file is no database.
  public static let notADatabase = ResultCode(SQLITE_NOTADB)
  /// Another connection holds the lock.
  public static let busy = ResultCode(SQLITE_BUSY)
  /// The statement was cut short because the database is being closed.
  public static let interrupted = ResultCode(SQLITE_INTERRUPT)
  /// The connection may only read.
  public static let readOnly = ResultCode(SQLITE_READONLY)
  /// The file is not where it was opened any more.
  public static let moved = readOnly.refined(4)
  /// A value has another type than the reader asked for.
  public static let mismatch = ResultCode(SQLITE_MISMATCH)
  /// A value or a statement is larger than the limits allow.
  public static let tooBig = ResultCode(SQLITE_TOOBIG)
  /// The library was used in a wrong way.
  public static let misuse = ResultCode(SQLITE_MISUSE)
  /// A column or parameter number that does not exist.
  public static let range = ResultCode(SQLITE_RANGE)
  /// The statement is not allowed here.
  public static let notAuthorised = ResultCode(SQLITE_AUTH)
  /// The file cannot be opened.
  public static let cannotOpen = ResultCode(SQLITE_CANTOPEN)
  /// Memory ran out.
  public static let noMemory = ResultCode(SQLITE_NOMEM)

  // sqlite3.h composes the extended codes with shifts, which Swift does not import.
  private func refined(_ detail: Int32) -> ResultCode { ResultCode(number | detail << 8) }

  /// Whether nothing this connection says afterwards can be trusted: the writer stops at such a code.
  var isFatal: Bool {
    switch self {
    case .inputOutput, .corrupt, .notADatabase: true
    default: false
    }
  }
}
