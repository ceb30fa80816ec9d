import Glibc
import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@Suite("A PostgreSQL server that fails")
struct FailureTests {
  @Test func `a killed server gives an error at once, and a COMMIT has an unknown outcome`() throws {
    let server = try PostgreSQLServer()
    let (one, other) = (try connect(server), try connect(server))
    try one.run("CREATE TABLE thing (id BIGINT)", by: soon)
    try other.begin(by: soon)
    try other.run("INSERT INTO thing VALUES (1)", by: soon)
    let (first, second) = (one.backend, other.backend)
    for process in [try server.pid, first, second] { kill(process, SIGKILL) }
    let error = try failure { try one.run("SELECT 1", by: soon) }
    #expect(error.kind == .lost && !one.isOpen)
    let commit = try unknown(other.commit(by: soon))
    #expect(commit.kind == .lost && !other.isOpen)
    #expect(try failure { try one.run("SELECT 1", by: soon) }.kind == .lost)
    let gone = try failure { _ = try connect(server) }
    #expect(gone.kind == .unreachable, "\(gone)")
  }

  @Test func `a connection that the operator ended reports this and closes`() throws {
    let connection = try connectShared()
    let operating = try connect(sharedServer())
    try operating.run("SELECT pg_terminate_backend(\(Int(connection.backend)))", by: soon)
    let error = try eventually("the end of the connection") {
      try? failure { try connection.run("SELECT 1", by: soon) }
    }
    #expect(error.state == .shutdown || error.kind == .lost, "\(error)")
    #expect(!connection.isOpen)
  }

  @Test func `a statement on a frozen server ends at the deadline`() throws {
    let server = try PostgreSQLServer()
    let connection = try connect(server)
    let backend = connection.backend
    kill(backend, SIGSTOP)
    defer { kill(backend, SIGCONT) }
    let error = try failure { try connection.run("SELECT 1", by: .after(.milliseconds(300))) }
    #expect(error.kind == .deadline && !connection.isOpen)
  }

  @Test func `a host that is frozen before it answers is skipped for the next one`() throws {
    let (frozen, server) = (try PostgreSQLServer(), try sharedServer())
    kill(try frozen.pid, SIGSTOP)
    defer { _ = try? kill(frozen.pid, SIGCONT) }
    var settings = try ConnectionSettings(
      url: "postgresql://regent@127.0.0.1:\(frozen.port),127.0.0.1:\(server.port)/regent")
    settings.hostPatience = .milliseconds(300)
    #expect(try Connection.open(settings, by: soon).host.port == server.port)
    settings.hosts.removeLast()
    let error = try failure { _ = try Connection.open(settings, by: soon) }
    #expect(error.kind == .unreachable && error.message.contains("did not answer in time"), "\(error)")
  }

  @Test func `a standby is skipped for the primary`() throws {
    let (standby, server) = (try PostgreSQLServer(isStandby: true), try sharedServer())
    var settings = try ConnectionSettings(
      url: "postgresql://regent@127.0.0.1:\(standby.port),127.0.0.1:\(server.port)/regent")
    #expect(try Connection.open(settings, by: soon).host.port == server.port)
    settings.hosts.removeLast()
    let error = try failure { _ = try Connection.open(settings, by: soon) }
    #expect(error.kind == .readOnly && error.message.contains("takes no changes"), "\(error)")
  }

  @Test func `a read-only transaction ends its connection`() throws {
    let connection = try connectShared()
    try connection.run("CREATE TEMPORARY TABLE other (id BIGINT)", by: soon)
    try connection.begin(by: soon)
    try connection.run("SET TRANSACTION READ ONLY", by: soon)
    let error = try failure { try connection.run("CREATE TABLE never (id BIGINT)", by: soon) }
    #expect(error.state == .readOnly && !connection.isOpen)
  }

  @Test func `errors name the missing server, database, role or host`() throws {
    let server = try sharedServer()
    let port = try freePort()
    let nobody = try failure {
      _ = try Connection.open(ConnectionSettings(url: "postgresql://regent@127.0.0.1:\(port)/regent"), by: soon)
    }
    #expect(nobody.kind == .unreachable, "\(nobody)")
    #expect(nobody.message == "127.0.0.1:\(port) cannot be reached: Connection refused")
    // With several hosts, the message names the problem of each host once.
    let all = try failure {
      let url = "postgresql://regent@127.0.0.1:\(port),127.0.0.1:\(server.port)/other"
      _ = try Connection.open(ConnectionSettings(url: url), by: soon)
    }
    #expect(
      all.message == "\(nobody.message); 127.0.0.1:\(server.port) has no database “other” (3D000)", "\(all)")
    let database = try failure {
      _ = try Connection.open(ConnectionSettings(url: "postgresql://regent@127.0.0.1:\(server.port)/other"), by: soon)
    }
    #expect(database.kind == .refused && database.message.contains("has no database “other” (3D000)"), "\(database)")
    let role = try failure {
      _ = try Connection.open(ConnectionSettings(url: "postgresql://nobody@127.0.0.1:\(server.port)/regent"), by: soon)
    }
    #expect(role.kind == .refused && role.message.contains("not in"), "\(role)")
    let name = try failure {
      _ = try Connection.open(ConnectionSettings(url: "postgresql://regent@nowhere.invalid/regent"), by: soon)
    }
    #expect(name.kind == .unreachable && name.message.contains("nowhere.invalid"), "\(name)")
  }
}
