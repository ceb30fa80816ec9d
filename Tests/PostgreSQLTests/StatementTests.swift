@testable import PostgreSQL
import PostgreSQLTestSupport
import RegentPlatform
import TestSupport
import Testing

@Suite("PostgreSQL statements")
struct PostgreSQLStatementTests {
  @Test func `a batch runs in order and reports the changed rows of each statement`() throws {
    let connection = try connectShared()
    let results = try connection.run(
      [
        "INSERT INTO thing VALUES (\(1), \("one")), (\(2), \("two"))",
        "UPDATE thing SET name = \("zwei") WHERE id = \(2)",
        "SELECT name FROM thing ORDER BY id", "DELETE FROM thing",
      ], by: soon)
    #expect(results.map(\.changed) == [2, 1, 2, 2])
    #expect(try results[2].map { try $0.text(0) } == ["one", "zwei"])
  }

  @Test func `a missing prepared statement is blamed on a pooler, and the hint says how to set it up`()
    throws
  {
    let connection = try connectShared()
    try connection.run("SELECT 7", by: soon)
    try connection.run("DEALLOCATE ALL", by: soon)
    let error = try failure { try connection.run("SELECT 7", by: soon) }
    #expect(error.state == .noStatement && error.hint?.contains("pool_mode = session") == true, "\(error)")
    #expect(try connection.run("SELECT 7", by: soon)[0].integer(0) == 7, "it is prepared anew")
    #expect(hint(for: .statementThere) == error.hint)
  }

  @Test func `a large batch with large results does not block`() throws {
    let connection = try connectShared()
    let text = String(repeating: "x", count: 50_000)
    // Both the requests and the results exceed the sockets' buffers.
    let results = try connection.run((0..<200).map { _ in "SELECT CAST(\(text) AS TEXT)" }, by: soon)
    #expect(try results.count == 200 && results.allSatisfy { try $0[0].text(0) == text })
  }

  @Test func `a batch with a failed statement is rolled back, and the error names that statement`() throws {
    let connection = try connectShared()
    let error = try failure {
      _ = try connection.run(
        ["INSERT INTO thing VALUES (\(1), \("one"))", "INSERT INTO thing VALUES (\(1), \("two"))", "SELECT 1"], by: soon
      )
    }
    #expect(error.state == .constraintUnique && error.constraint == "thing_pkey")
    #expect(error.sql == "INSERT INTO thing VALUES (?, ?)")
    #expect(!"\(error)".contains("two") && !"\(error)".contains("(1)"))
    #expect(try connection.run("SELECT 1 FROM thing", by: soon).isEmpty && connection.isOpen)
  }

  @Test func `a batch whose commit fails is rolled back, and the connection stays usable`() throws {
    let connection = try connectShared()
    try connection.run(
      "CREATE TEMPORARY TABLE other (id BIGINT, CONSTRAINT late UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)", by: soon)
    for _ in 1...2 {
      let error = try failure {
        _ = try connection.run(["INSERT INTO other VALUES (\(1))", "INSERT INTO other VALUES (\(1))"], by: soon)
      }
      #expect(error.state == .constraintUnique && error.constraint == "late", "\(error)")
      #expect(try connection.run("SELECT count(*) FROM other", by: soon)[0].integer(0) == 0)
    }
  }

  @Test func `constraint violations and other errors have distinct types`() throws {
    let connection = try connectShared()
    try connection.run(
      "CREATE TEMPORARY TABLE part (thing BIGINT NOT NULL REFERENCES thing, n BIGINT CONSTRAINT few CHECK (n < 9))",
      by: soon)
    func state(_ sql: SQL) throws -> PostgreSQLError { try failure { try connection.run(sql, by: soon) } }
    #expect(try state("INSERT INTO part VALUES (\(5), \(1))").state == .constraintForeignKey)
    #expect(try state("INSERT INTO part VALUES (\(SQLValue.null), \(1))").state == .constraintNotNull)
    let check = try state("INSERT INTO part VALUES (\(5), \(10))")
    #expect(check.state == .constraintCheck && check.constraint == "few")
    if case .constraint? = check.state {} else { Issue.record("\(check) must match the case for any constraint") }
    #expect(try state("SELECT * FROM nothing").state == .noTable)
    let data = try state("SELECT CAST(CAST(\("secret") AS TEXT) AS BIGINT)")
    #expect(data.state?.family == .data && !"\(data)".contains("secret"))
  }

  @Test func `a serialization failure is reported as repeatable`() throws {
    let server = try sharedServer()
    let (one, other) = (try connect(server), try connect(server))
    try one.run("CREATE TABLE serial (id BIGINT PRIMARY KEY, n BIGINT)", by: soon)
    defer { _ = try? one.run("DROP TABLE serial", by: soon) }
    try one.run("INSERT INTO serial VALUES (1, 1)", by: soon)
    try other.begin(by: soon)
    try other.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", by: soon)
    try other.run("SELECT n FROM serial", by: soon)
    try one.run("UPDATE serial SET n = 2", by: soon)
    let error = try failure { try other.run("UPDATE serial SET n = 3", by: soon) }
    #expect(error.state == .serialization && error.mayBeRepeated && other.isOpen)
    try other.rollback(by: soon)
  }

  @Test func `a deadlock is reported as repeatable to one of the two transactions`() throws {
    let server = try sharedServer()
    let one = try connect(server)
    try one.run("CREATE TABLE knot (id BIGINT PRIMARY KEY, n BIGINT)", by: soon)
    defer { _ = try? one.run("DROP TABLE knot", by: soon) }
    try one.run("INSERT INTO knot VALUES (1, 0), (2, 0)", by: soon)
    try one.begin(by: soon)
    try one.run("UPDATE knot SET n = 1 WHERE id = 1", by: soon)
    let has = Flag("the other has its row")
    let found = Locked<PostgreSQLError?>(nil)
    let url = server.socketURL
    let thread = try DedicatedThread.start(named: "other") {
      do {
        let other = try Connection.open(ConnectionSettings(url: url), by: soon)
        try other.begin(by: soon)
        try other.run("UPDATE knot SET n = 2 WHERE id = 2", by: soon)
        has.raise()
        try other.run("UPDATE knot SET n = 2 WHERE id = 1", by: soon)
      } catch {
        found.withLock { $0 = error as? PostgreSQLError }
      }
      has.raise()
    }
    try has.block()
    var own: PostgreSQLError?
    do { try one.run("UPDATE knot SET n = 1 WHERE id = 2", by: soon) } catch { own = error }
    try one.rollback(by: soon)
    thread.join()
    let errors = [own, found.withLock { $0 }].compactMap(\.self)
    #expect(errors.count == 1 && errors.allSatisfy { $0.state == .deadlock && $0.mayBeRepeated })
  }

  @Test func `a statement is prepared once, and the number of prepared statements is limited`() throws {
    let connection = try connectShared()
    for number in 0..<5 { try connection.run("SELECT CAST(\(number) AS BIGINT)", by: soon) }
    #expect(connection.preparedCount == 2)
    for number in 0..<Connection.mostStatements {
      let rows = try connection.run("SELECT CAST(\(number) AS BIGINT) AS c\(unsafeRawSQL: "\(number)")", by: soon)
      #expect(try rows[0].integer(0) == Int64(number))
    }
    #expect(connection.preparedCount <= Connection.mostStatements)
    let known = try connection.run("SELECT count(*) FROM pg_prepared_statements", by: soon)[0].integer(0)
    #expect(known == Int64(connection.preparedCount))
  }

  @Test func `a statement whose table changed fails once and is prepared again`() throws {
    let connection = try connectShared()
    let sql: SQL = "SELECT * FROM thing"
    #expect(try connection.run("INSERT INTO thing VALUES (1, 'one')", by: soon).changed == 1)
    try connection.run(sql, by: soon)
    try connection.run("ALTER TABLE thing ADD COLUMN more TEXT", by: soon)
    #expect(try failure { try connection.run(sql, by: soon) }.state?.code == "0A000")
    #expect(try connection.run(sql, by: soon)[0].count == 3)
  }
}
