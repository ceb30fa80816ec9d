import PostgreSQL
import PostgreSQLTestSupport
import RegentPlatform
import TestSupport

/// The server that all tests share.
///
/// No test may stop it.
func sharedServer() throws -> PostgreSQLServer { try PostgreSQLServer.shared.get() }

/// Far longer than any statement takes, even on a busy machine.
var soon: Deadline { .after(.seconds(patience)) }

/// Opens a connection over the Unix socket.
func connect(_ server: PostgreSQLServer) throws -> Connection {
  try Connection.open(ConnectionSettings(url: server.socketURL), by: soon)
}

/// Opens a connection to the shared server, with a temporary table that ends with the connection.
func connectShared() throws -> Connection {
  let connection = try connect(sharedServer())
  try connection.run("CREATE TEMPORARY TABLE thing (id BIGINT PRIMARY KEY, name TEXT UNIQUE)", by: soon)
  return connection
}

/// Runs a call that must fail and returns its error.
func failure(_ body: () throws -> Void) throws -> PostgreSQLError {
  do { try body() } catch let error as PostgreSQLError { return error }
  throw TestSupportError("it did not fail")
}

/// The error of a COMMIT that failed.
func notCommitted(_ outcome: CommitOutcome) throws -> PostgreSQLError {
  guard case .notCommitted(let error) = outcome else { throw TestSupportError("it is \(outcome)") }
  return error
}

/// The error of a COMMIT whose outcome is unknown.
func unknown(_ outcome: CommitOutcome) throws -> PostgreSQLError {
  guard case .unknown(let error) = outcome else { throw TestSupportError("it is \(outcome)") }
  return error
}
