import PostgreSQL
import PostgreSQLTestSupport
import RegentPlatform
import TestSupport

/// The server that all tests share; none may stop it.
func sharedServer() throws -> PostgreSQLServer { try PostgreSQLServer.shared.get() }

/// Far more than anything takes on a busy machine.
var soon: Deadline { .after(.seconds(patience)) }

/// A connection over the Unix socket.
func connect(_ server: PostgreSQLServer) throws -> Connection {
  try Connection.open(ConnectionSettings(url: server.socketURL), by: soon)
}

/// A connection to the shared server with tables of its own, which are gone with it.
func connectShared() throws -> Connection {
  let connection = try connect(sharedServer())
  try connection.run("CREATE TEMPORARY TABLE thing (id BIGINT PRIMARY KEY, name TEXT UNIQUE)", by: soon)
  return connection
}

/// What a call that must fail threw.
func failure(_ body: () throws -> Void) throws -> PostgreSQLError {
  do { try body() } catch let error as PostgreSQLError { return error }
  throw TestSupportError("it did not fail")
}

/// Why a COMMIT did not happen.
func notCommitted(_ outcome: CommitOutcome) throws -> PostgreSQLError {
  guard case .notCommitted(let error) = outcome else { throw TestSupportError("it is \(outcome)") }
  return error
}

/// Why nobody knows what a COMMIT came to.
func unknown(_ outcome: CommitOutcome) throws -> PostgreSQLError {
  guard case .unknown(let error) = outcome else { throw TestSupportError("it is \(outcome)") }
  return error
}
