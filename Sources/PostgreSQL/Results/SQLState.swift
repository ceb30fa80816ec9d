/// A SQLSTATE: the five characters with which PostgreSQL identifies an error.
///
/// Codes without a name here are valid too.
public struct SQLState: Hashable, Sendable {
  public let code: String

  public init(_ code: String) { self.code = code }

  /// The class of a code: its first two characters, followed by zeros.
  public var family: SQLState { SQLState("\(code.prefix(2))000") }

  /// Whether both codes are equal, or the code belongs to the class of errors that `pattern` names.
  public static func ~= (pattern: SQLState, state: SQLState) -> Bool {
    pattern == state || pattern == state.family
  }
}

extension SQLState {
  /// A warning for which there is no other code.
  ///
  /// As the answer to COMMIT it means that the standby may not have the change.
  public static let warning = SQLState("01000")
  public static let connection = SQLState("08000")
  /// A value does not fit its type (the class of data errors).
  ///
  /// The server's message may repeat the value.
  public static let data = SQLState("22000")
  /// The change violates a constraint.
  public static let constraint = SQLState("23000")
  /// The change leaves a `NOT NULL` column without a value.
  public static let constraintNotNull = SQLState("23502")
  /// A foreign key refers to a row that does not exist.
  public static let constraintForeignKey = SQLState("23503")
  /// A primary key or unique index already holds the value.
  public static let constraintUnique = SQLState("23505")
  /// The change violates a `CHECK` constraint.
  public static let constraintCheck = SQLState("23514")
  /// The server is read-only: it is a standby, or was configured so.
  public static let readOnly = SQLState("25006")
  /// An earlier statement of the transaction failed.
  public static let transactionFailed = SQLState("25P02")
  /// The database role does not exist, or `pg_hba.conf` does not admit it.
  public static let notAdmitted = SQLState("28000")
  /// The password of the database role is wrong.
  public static let wrongPassword = SQLState("28P01")
  public static let noDatabase = SQLState("3D000")
  /// Another transaction changed the row first.
  ///
  /// Repeating this transaction may succeed.
  public static let serialization = SQLState("40001")
  /// Two transactions waited for each other, and the server ended this one.
  public static let deadlock = SQLState("40P01")
  /// The prepared statement does not exist: a pooler has switched the server connection.
  public static let noStatement = SQLState("26000")
  /// A prepared statement of that name exists already: a pooler gave this client another client's server connection.
  public static let statementThere = SQLState("42P05")
  /// The database role lacks the privilege for the statement.
  public static let noRight = SQLState("42501")
  /// The schema does not exist, or the database role may create nothing in any schema.
  public static let noSchema = SQLState("3F000")
  public static let noTable = SQLState("42P01")
  /// The server lacks disk space, memory or connections.
  public static let noRoom = SQLState("53000")
  public static let diskFull = SQLState("53100")
  /// The server has reached its limit of connections.
  public static let tooManyConnections = SQLState("53300")
  /// A server limit is exceeded, for example by a value in an index.
  public static let tooLarge = SQLState("54000")
  /// Another transaction holds a lock on the row.
  public static let locked = SQLState("55P03")
  /// The server cancelled the statement, for example because it exceeded the server's time limit.
  public static let cancelled = SQLState("57014")
  /// The database server is shutting down.
  public static let shutdown = SQLState("57P01")
  /// Another process of the server crashed.
  public static let crashed = SQLState("57P02")
  /// The server is starting or stopping and accepts no connections.
  public static let starting = SQLState("57P03")

  /// Whether the connection is useless after this error, because its server is shutting down or is not the writable
  /// one.
  package var endsConnection: Bool {
    switch self {
    case .connection, .readOnly, .shutdown, .crashed, .starting: true
    default: false
    }
  }

  /// Whether the statement must be prepared again: its table has changed, or a pooler has switched the connection to
  /// another server process.
  var forgetsStatement: Bool { code == "0A000" || self == .noStatement || self == .statementThere }
}
