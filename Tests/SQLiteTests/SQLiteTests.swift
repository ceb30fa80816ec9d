@testable internal import SQLite
internal import Testing

@Suite("The SQLite library")
struct SQLiteTests {
  @Test(arguments: [
    (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_051_002, true), (3_051_003, false),
  ])
  func `SQLite versions with the WAL-reset bug are recognised`(number: Int, faulty: Bool) {
    #expect(SQLiteLibrary.hasLogResetFault(number: number) == faulty)
  }

  @Test func `the description of the checkpoint rule names the SQLite version`() {
    #expect(SQLiteLibrary.ruleInForce.contains(SQLiteLibrary.version))
    #expect(SQLiteLibrary.ruleInForce.contains("checkpoint"))
  }

  @Test func `the process-wide SQLite settings are accepted`() {
    #expect(SQLiteLibrary.prepare())
  }

  @Test func `an error shows the statement and never a value`() async throws {
    try await withThings { database in
      try await database.write { try insert("hush-hush", in: $0) }
      let error = await #expect(throws: SQLiteError.self) {
        try await database.write { try insert("hush-hush", in: $0) }
      }
      let shown = "\(try #require(error)) \(String(reflecting: error)) \(error?.hint ?? "")"
      #expect(error?.code == .constraintUnique)
      #expect(shown.contains("INSERT INTO thing (name) VALUES (?)"))
      #expect(!shown.contains("hush"))
    }
  }

  @Test func `a value is never printed`() {
    let value = SQLValue.text("hush-hush")
    let statement: SQL = "SELECT \("hush-hush")"
    var dumped = ""
    dump(value, to: &dumped)
    dump(statement, to: &dumped)
    let shown =
      "\(value) \(String(reflecting: value)) \(statement) \(String(reflecting: statement))"
    #expect(!(shown + dumped).contains("hush"))
  }

  @Test func `an error code matches its extended codes`() {
    #expect(ResultCode.constraint ~= .constraintUnique)
    #expect(!(ResultCode.constraintUnique ~= .constraint))
    #expect(ResultCode(2067) == .constraintUnique)
    #expect(ResultCode(1555) == .constraintPrimaryKey)
    #expect(ResultCode(787) == .constraintForeignKey)
    #expect(ResultCode(275) == .constraintCheck)
    #expect(ResultCode(1299) == .constraintNotNull)
  }
}
