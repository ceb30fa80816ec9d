import CPostgreSQL
import Glibc

/// A libpq result.
///
/// It is freed when its last row is released.
@safe final class ResultHandle {
  private let library: ClientLibrary
  private let result: OpaquePointer

  init(owning result: OpaquePointer, _ library: ClientLibrary) {
    unsafe self.result = unsafe result
    self.library = library
  }

  deinit { unsafe library.clear(result) }

  var status: ExecStatusType { unsafe library.resultStatus(result) }
  var rowCount: Int { Int(unsafe library.rowCount(result)) }
  var columnCount: Int { Int(unsafe library.columnCount(result)) }

  /// The server's command tag, for example "COMMIT".
  var command: String { unsafe library.command(result).map { unsafe String(cString: $0) } ?? "" }

  /// How many rows the statement changed or returned.
  var changed: Int { unsafe library.changed(result).flatMap { unsafe Int(String(cString: $0)) } ?? 0 }

  /// The parameter types of a statement.
  ///
  /// Only the result that describes a statement has them.
  var parameterTypes: [UInt32] {
    let count = unsafe library.parameterCount(result)
    return (0..<count).map { unsafe library.parameterType(result, $0) }
  }

  func columnName(_ column: Int) -> String {
    unsafe library.columnName(result, CInt(column)).map { unsafe String(cString: $0) } ?? "?"
  }

  func type(_ column: Int) -> UInt32 { unsafe library.columnType(result, CInt(column)) }

  func isNull(_ row: Int, _ column: Int) -> Bool { unsafe library.isNull(result, CInt(row), CInt(column)) != 0 }

  /// Calls `body` with the bytes of a value in the result.
  func withBytes<Value>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
    let start = unsafe library.value(result, CInt(row), CInt(column))
    let count = Int(unsafe library.length(result, CInt(row), CInt(column)))
    return unsafe body(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The error of a failed statement, or nil if the statement succeeded.
  ///
  /// The kind is `.lost` when the connection failed.
  func error(_ sql: String?) -> PostgreSQLError? {
    switch status {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_PIPELINE_SYNC: return nil
    case PGRES_PIPELINE_ABORTED:
      return PostgreSQLError(.misuse, "an earlier statement of the batch failed", sql: sql)
    default: break
    }
    guard let code = field("C") else {
      return PostgreSQLError(.lost, "the connection to the database broke", sql: sql)
    }
    let state = SQLState(code)
    // For data errors the server's message repeats the value.
    let words = state.family == .data ? "a value does not fit" : field("M") ?? "an error"
    return PostgreSQLError(
      .server(state), words, sql: sql, constraint: field("n") ?? field("c"), hint: hint(for: state))
  }

  private func field(_ letter: Unicode.Scalar) -> String? {
    unsafe library.errorField(result, CInt(letter.value)).map { unsafe String(cString: $0) }
  }
}

/// The hint for a pooler that uses another server connection for each transaction.
let poolerHint =
  "name the port of the server itself, as a service keeps few connections; or give the pooler pool_mode = session; "
  + "--wakeups poll does without LISTEN and is no help against this"

/// The hint what to do about an error that the server reported.
func hint(for state: SQLState) -> String? {
  switch state {
  case .wrongPassword: "compare the file with the password with the server: psql -W -h HOST -U USER DATABASE"
  case .notAdmitted: "add a line for this role and this machine to pg_hba.conf, and make the role: createuser USER"
  case .noDatabase: "make it: createdb --owner=USER --encoding=UTF8 DATABASE"
  case .noRight:
    "as the owner of the tables: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ROLE; "
      + "postgresql.md lists all rights (package regent-doc)"
  case .diskFull: "free some space on the server's file system"
  case .tooManyConnections: "raise max_connections, or give fewer connections to other programs"
  case .noStatement, .statementThere: poolerHint
  case .readOnly, .starting, .shutdown, .crashed: "look at the server's log; another host of the URL is tried next"
  default: nil
  }
}
