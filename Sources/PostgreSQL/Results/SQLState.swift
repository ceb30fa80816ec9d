/// The five characters with which PostgreSQL says what happened, also ones that this program does not know.
public struct SQLState: Hashable, Sendable {
  public let code: String

  /// Takes five characters as the server sends them.
  public init(_ code: String) { self.code = code }

  /// The general kind of a state: its first two characters, with zeros.
  public var family: SQLState { SQLState("\(code.prefix(2))000") }

  /// Whether it is the state, or one of its family.
  public static func ~= (pattern: SQLState, state: SQLState) -> Bool {
    pattern == state || pattern == state.family
  }
}

extension SQLState {
  /// A notice that nobody gave a state of its own: in a COMMIT it says that the standby may have nothing.
  public static let warning = SQLState("01000")
  /// The connection is gone.
  public static let connection = SQLState("08000")
  /// A value does not fit its type; the server's words may repeat it.
  public static let data = SQLState("22000")
  /// A rule of the schema forbids the change.
  public static let constraint = SQLState("23000")
  /// A column that must have a value got none.
  public static let constraintNotNull = SQLState("23502")
  /// A row points to one that is not there.
  public static let constraintForeignKey = SQLState("23503")
  /// A primary key or unique index already holds the value.
  public static let constraintUnique = SQLState("23505")
  /// A `CHECK` clause is not fulfilled.
  public static let constraintCheck = SQLState("23514")
  /// The server takes no changes: it is a standby, or was set so.
  public static let readOnly = SQLState("25006")
  /// An earlier statement of the transaction failed.
  public static let transactionFailed = SQLState("25P02")
  /// There is no such role, or no rule lets it in.
  public static let notAdmitted = SQLState("28000")
  /// The role exists, and its password is another.
  public static let wrongPassword = SQLState("28P01")
  /// There is no such database.
  public static let noDatabase = SQLState("3D000")
  /// Another transaction changed the row first; the same one may succeed when it is repeated.
  public static let serialization = SQLState("40001")
  /// Two transactions waited for each other; this one was chosen to end.
  public static let deadlock = SQLState("40P01")
  /// No statement was prepared under that name: a pooler gave the connection another server.
  public static let noStatement = SQLState("26000")
  /// A statement was prepared under that name by somebody else: a pooler gave us the server of another client.
  public static let statementThere = SQLState("42P05")
  /// The role may not do that.
  public static let noRight = SQLState("42501")
  /// There is no such schema, or none in which the role may make anything.
  public static let noSchema = SQLState("3F000")
  /// There is no such table.
  public static let noTable = SQLState("42P01")
  /// The server has no room: disk, memory or connections.
  public static let noRoom = SQLState("53000")
  /// The disk of the server is full.
  public static let diskFull = SQLState("53100")
  /// The server has as many connections as it takes.
  public static let tooManyConnections = SQLState("53300")
  /// Something is larger than a limit that the server was built with: a value in an index, for one.
  public static let tooLarge = SQLState("54000")
  /// A row is locked by somebody else.
  public static let locked = SQLState("55P03")
  /// A limit of the server's own ended the statement.
  public static let cancelled = SQLState("57014")
  /// The server is being stopped.
  public static let shutdown = SQLState("57P01")
  /// Another process of the server crashed.
  public static let crashed = SQLState("57P02")
  /// The server does not take connections yet, or any more.
  public static let starting = SQLState("57P03")

  /// Whether the connection is of no use after it: its server is going away, or is not the one that takes changes.
  package var endsConnection: Bool {
    switch self {
    case .connection, .readOnly, .shutdown, .crashed, .starting: true
    default: false
    }
  }

  /// Whether a statement that was prepared before has to be prepared again: its table changed, or a pooler gave the
  /// connection another server.
  var forgetsStatement: Bool { code == "0A000" || self == .noStatement || self == .statementThere }
}
