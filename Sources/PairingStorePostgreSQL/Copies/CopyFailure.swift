public import PostgreSQL

/// Why a database could not be copied, or could not be filled with a copy.
public enum CopyFailure: Error, Hashable, Sendable {
  /// The database to copy has no tables.
  case nothingThere
  /// The table to fill already has rows.
  case notEmpty(table: String)
  /// The server refuses a row of the copy for this table.
  case refusedRow(table: String, PostgreSQLError)
  /// A COMMIT was sent, and whether it succeeded could not be found out.
  case unknown(PostgreSQLError?)

  public var message: String {
    switch self {
    case .nothingThere: "the database to copy has no tables"
    case .notEmpty(let table): "the database to fill is not empty: the table “\(table)” has rows"
    case .refusedRow(let table, let error):
      "the database server refuses a row of the table “\(table)”, and nothing was changed: \(error.message)"
    case .unknown(let error):
      "it is unknown whether all rows are on the server now: \(error?.message ?? "the server has not answered")"
    }
  }

  /// What the operator can do about the failure.
  public var hint: String {
    switch self {
    case .nothingThere:
      "name the database that a service uses; its tables must be in the first schema of the user's search_path"
    case .notEmpty: "name an empty database, or create one: createdb --encoding=UTF8 NAME"
    case .refusedRow:
      "PostgreSQL cannot store a zero byte or a very long name: change the record, then run the command again"
    case .unknown: "check that the server answers, then run the same command again; it finds out what was copied"
    }
  }
}
