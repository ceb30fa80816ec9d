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
    case .nothingThere: "there are no tables in the database"
    case .notEmpty(let table): "the database is not empty: there are rows in the table “\(table)”"
    case .refusedRow(let table, let error):
      "the server does not take a row of the table “\(table)”, and nothing was changed: \(error.message)"
    case .unknown(let error):
      "it is unknown whether the server has it: \(error?.message ?? "it has not answered")"
    }
  }

  /// What the operator can do about the failure.
  public var hint: String {
    switch self {
    case .nothingThere:
      "name the database that a service uses; its tables are looked for in the first schema of the search path"
    case .notEmpty: "name another one, or make one: createdb --encoding=UTF8 NAME"
    case .refusedRow:
      "PostgreSQL keeps no zero byte in a text, and no very long name: change the record, then try again"
    case .unknown: "check that the server answers, then run the command again: it finds out"
    }
  }
}
