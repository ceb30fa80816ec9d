/// The failure of a call to PostgreSQL or of the connection to it.
///
/// It never contains values, passwords or URLs.
public struct PostgreSQLError: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// libpq is not installed, or is too old.
    case libraryMissing
    /// The URL or the password file is invalid.
    case settings
    /// No server answered in time.
    case unreachable
    /// A server answered and refused the login.
    case refused
    /// The server's identity could not be verified (TLS).
    case untrusted
    /// The servers that answered are all read-only.
    case readOnly
    /// The server answered a statement with an error.
    case server(SQLState)
    /// The server sent no answer by the deadline. The connection is closed, and it is unknown whether the statement
    /// ran.
    case deadline
    /// The connection broke.
    ///
    /// It is unknown whether the statement ran.
    case lost
    /// A value cannot be sent, or a column has another type than the one requested.
    case value
    /// The program used this library incorrectly.
    case misuse
  }

  public let kind: Kind
  /// A sentence about the error, or the server's message if that contains no value.
  public let message: String
  /// The statement, with `?` in place of its values; nil when the call had none.
  public let sql: String?
  /// The name of the constraint that the change violates.
  public let constraint: String?
  public let hint: String?

  public init(
    _ kind: Kind, _ message: String, sql: String? = nil, constraint: String? = nil, hint: String? = nil
  ) {
    self.kind = kind
    self.message = message
    self.sql = sql
    self.constraint = constraint
    self.hint = hint
  }

  /// The SQLSTATE, if the server reported the error.
  public var state: SQLState? {
    if case .server(let state) = kind { state } else { nil }
  }

  /// Whether repeating the same transaction may succeed.
  public var mayBeRepeated: Bool { state == .serialization || state == .deadlock }
}

extension PostgreSQLError: CustomStringConvertible {
  /// The maximum number of characters of a statement that an error shows.
  ///
  /// A statement that writes many rows has thousands.
  private static let shown = 500

  /// The error as one sentence, without secrets.
  public var description: String {
    let place = sql.map { " in “\($0.prefix(Self.shown))\($0.count > Self.shown ? "…" : "")”" } ?? ""
    guard let state else { return "\(message)\(place)" }
    return "PostgreSQL says “\(message)” (\(state.code))\(place)"
  }
}

/// The outcome of a COMMIT.
public enum CommitOutcome: Hashable, Sendable {
  /// The transaction was committed, and is as durable as the server's settings make it.
  case committed
  /// The transaction certainly changed nothing.
  case notCommitted(PostgreSQLError)
  /// It is unknown whether the transaction was committed: no answer came, or the server warned that the standby may not
  /// have the change. Read the rows again over a new connection before answering a client.
  case unknown(PostgreSQLError)
}
