/// Why PostgreSQL, or the way to it, gave no ordinary answer.
///
/// Values, passwords and URLs never appear in it.
public struct PostgreSQLError: Error, Hashable, Sendable {
  /// The kinds of failure.
  public enum Kind: Hashable, Sendable {
    /// libpq is not installed, or is too old.
    case libraryMissing
    /// The URL or the place of the password is not right.
    case settings
    /// No server answered in time.
    case unreachable
    /// A server answered and does not let us in.
    case refused
    /// The server could not prove who it is.
    case untrusted
    /// Only servers that take no changes answered.
    case readOnly
    /// The server answered a statement with an error.
    case server(SQLState)
    /// No answer by the deadline. The connection is closed; whether the statement ran is not known.
    case deadline
    /// The connection broke. Whether the statement ran is not known.
    case lost
    /// A value cannot be sent, or a column is not what was asked for.
    case value
    /// The library was used in a wrong way.
    case misuse
  }

  public let kind: Kind
  /// A sentence, or the server's own words where they repeat no value.
  public let message: String
  /// The statement with `?` in place of its values, or `nil` when there was none.
  public let sql: String?
  /// The rule of the schema that a change broke.
  public let constraint: String?
  /// What to do about it, when there is something to do.
  public let hint: String?

  /// An error with a sentence.
  public init(
    _ kind: Kind, _ message: String, sql: String? = nil, constraint: String? = nil, hint: String? = nil
  ) {
    self.kind = kind
    self.message = message
    self.sql = sql
    self.constraint = constraint
    self.hint = hint
  }

  /// The server's state, when the server said it.
  public var state: SQLState? {
    if case .server(let state) = kind { state } else { nil }
  }

  /// Whether the same transaction may succeed when it is repeated as it is.
  public var mayBeRepeated: Bool { state == .serialization || state == .deadlock }
}

extension PostgreSQLError: CustomStringConvertible {
  /// Letters of a statement; one that writes many rows has thousands that say nothing.
  private static let shown = 500

  /// One sentence that is safe to show.
  public var description: String {
    let place = sql.map { " in “\($0.prefix(Self.shown))\($0.count > Self.shown ? "…" : "")”" } ?? ""
    guard let state else { return "\(message)\(place)" }
    return "PostgreSQL says “\(message)” (\(state.code))\(place)"
  }
}

/// What a COMMIT came to.
public enum CommitOutcome: Hashable, Sendable {
  /// It is durable as far as the server was told to make it.
  case committed
  /// Certainly nothing was changed.
  case notCommitted(PostgreSQLError)
  /// Nobody knows: no answer came, or the server said that the standby may have nothing.
  ///
  /// Look, over a new connection, before anybody is told.
  case unknown(PostgreSQLError)
}
