import PostgreSQL
import PostgreSQLTestSupport
import TestSupport
import Testing

@Suite("Outcomes of a PostgreSQL COMMIT")
struct CommitTests {
  @Test func `a COMMIT also commits the statements sent before it`() throws {
    let connection = try connectShared()
    try connection.begin(by: soon)
    #expect(connection.isInTransaction)
    #expect(connection.commit(after: ["INSERT INTO thing VALUES (\(1), \("one"))"], by: soon) == .committed)
    #expect(try !connection.isInTransaction && connection.run("SELECT 1 FROM thing", by: soon).count == 1)
  }

  @Test func `a failed statement makes the COMMIT fail and leaves the connection usable`() throws {
    let connection = try connectShared()
    for isBefore in [true, false] {
      try connection.begin(by: soon)
      try connection.run("INSERT INTO thing VALUES (1, 'one')", by: soon)
      if isBefore { _ = try failure { try connection.run("INSERT INTO thing VALUES (1, 'two')", by: soon) } }
      let outcome = connection.commit(after: isBefore ? [] : ["INSERT INTO thing VALUES (1, 'two')"], by: soon)
      let error = try notCommitted(outcome)
      #expect(error.state == (isBefore ? .transactionFailed : .constraintUnique))
      #expect(try connection.run("SELECT 1 FROM thing", by: soon).isEmpty && !connection.isInTransaction)
    }
  }

  @Test func `a violated deferred constraint makes the COMMIT fail`() throws {
    let connection = try connectShared()
    try connection.run(
      "CREATE TEMPORARY TABLE late (id BIGINT REFERENCES thing DEFERRABLE INITIALLY DEFERRED)", by: soon)
    try connection.begin(by: soon)
    try connection.run("INSERT INTO late VALUES (7)", by: soon)
    let error = try notCommitted(connection.commit(by: soon))
    #expect(error.state == .constraintForeignKey && connection.isOpen)
  }

  @Test func `a COMMIT fails without a transaction, with an invalid value and on a closed connection`() throws {
    let connection = try connectShared()
    let error = try notCommitted(connection.commit(by: soon))
    #expect(error.kind == .misuse)
    try connection.begin(by: soon)
    let value = try notCommitted(connection.commit(after: ["SELECT CAST(\("a\u{0}") AS TEXT)"], by: soon))
    #expect(value.kind == .value && connection.isOpen && !connection.isInTransaction)
    connection.close()
    let closed = try notCommitted(connection.commit(by: soon))
    #expect(closed.kind == .lost)
  }

  /// A server that waits for a standby that does not exist, so each COMMIT waits forever.
  private func withoutStandby() throws -> PostgreSQLServer {
    let server = try PostgreSQLServer(["synchronous_standby_names = 'away'"])
    let connection = try connect(server)
    try connection.run("SET synchronous_commit = local", by: soon)
    try connection.run("CREATE TABLE thing (id BIGINT PRIMARY KEY)", by: soon)
    return server
  }

  @Test func `a COMMIT without an answer by the deadline has an unknown outcome`() throws {
    let server = try withoutStandby()
    let connection = try connect(server)
    try connection.begin(by: soon)
    try connection.run("INSERT INTO thing VALUES (1)", by: soon)
    let error = try unknown(connection.commit(by: .after(.milliseconds(300))))
    #expect(error.kind == .deadline && !connection.isOpen)
  }

  /// PostgreSQL then answers COMMIT with a warning, as if the standby had the change.
  @Test func `a COMMIT whose wait for the standby was cancelled has an unknown outcome`() throws {
    let server = try withoutStandby()
    let connection = try connect(server)
    try connection.begin(by: soon)
    try connection.run("INSERT INTO thing VALUES (1)", by: soon)
    let backend = connection.backend
    let watcher = try connect(server)
    let cancelled = Flag("the other connection cancels")
    let url = server.socketURL
    let thread = try RunningCancel(url: url, backend: backend, cancelled)
    let outcome = connection.commit(by: soon)
    thread.join()
    let error = try unknown(outcome)
    #expect(error.state == .warning && !connection.isOpen)
    // The row was committed here, so treating the answer as a failure would be wrong, too.
    #expect(try watcher.run("SELECT 1 FROM thing", by: soon).count == 1)
  }
}
