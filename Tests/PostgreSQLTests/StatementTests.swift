@testable import PostgreSQL
import PostgreSQLTestSupport
import RegentPlatform
import TestSupport
import Testing

@Suite("Statements of PostgreSQL")
struct PostgreSQLStatementTests {
  @Test func `a batch runs in order, and says what each did`() throws {
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

  @Test func `statements that are not there, or somebody else's, are a pooler's doing, and the error says what to do`()
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

  @Test func `a large batch with large answers does not stop half way`() throws {
    let connection = try connectShared()
    let text = String(repeating: "x", count: 50_000)
    // Both directions are larger than what sockets hold.
    let results = try connection.run((0..<200).map { _ in "SELECT CAST(\(text) AS TEXT)" }, by: soon)
    #expect(try results.count == 200 && results.allSatisfy { try $0[0].text(0) == text })
  }

  @Test func `of a batch that fails nothing stays, and the error names its statement`() throws {
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

  @Test func `of a batch whose end fails nothing stays, and the connection goes on`() throws {
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

  @Test func `a broken rule of the schema has a type`() throws {
    let connection = try connectShared()
    try connection.run(
      "CREATE TEMPORARY TABLE part (thing BIGINT NOT NULL REFERENCES thing, n BIGINT CONSTRAINT few CHECK (n < 9))",
      by: soon)
    func state(_ sql: SQL) throws -> PostgreSQLError { try failure { try connection.run(sql, by: soon) } }
    #expect(try state("INSERT INTO part VALUES (\(5), \(1))").state == .constraintForeignKey)
    #expect(try state("INSERT INTO part VALUES (\(SQLValue.null), \(1))").state == .constraintNotNull)
    let check = try state("INSERT INTO part VALUES (\(5), \(10))")
    #expect(check.state == .constraintCheck && check.constraint == "few")
    if case .constraint? = check.state {} else { Issue.record("\(check) is of the family of constraints") }
    #expect(try state("SELECT * FROM nothing").state == .noTable)
    let data = try state("SELECT CAST(CAST(\("secret") AS TEXT) AS BIGINT)")
    #expect(data.state?.family == .data && !"\(data)".contains("secret"))
  }

  @Test func `who comes second in a changed row is told to repeat`() throws {
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

  @Test func `of two that wait for each other one is told to repeat`() throws {
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

  @Test func `a text is prepared once, and their number has an end`() throws {
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

  @Test func `a statement whose table changed is prepared again`() throws {
    let connection = try connectShared()
    let sql: SQL = "SELECT * FROM thing"
    #expect(try connection.run("INSERT INTO thing VALUES (1, 'one')", by: soon).changed == 1)
    try connection.run(sql, by: soon)
    try connection.run("ALTER TABLE thing ADD COLUMN more TEXT", by: soon)
    #expect(try failure { try connection.run(sql, by: soon) }.state?.code == "0A000")
    #expect(try connection.run(sql, by: soon)[0].count == 3)
  }
}
