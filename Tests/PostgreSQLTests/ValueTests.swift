@testable import PostgreSQL
import TestSupport
import Testing

@Suite("PostgreSQL values and rows")
struct PostgreSQLValueTests {
  @Test func `a text literal is quoted safely even if a quotation mark carries a combining mark`() {
    let hostile = "a'\u{301}b''"
    #expect(literal(hostile).utf8.count { $0 == UInt8(ascii: "'") } == 8)
  }

  @Test(arguments: [
    SQLValue.null, .integer(0), .integer(.min), .integer(.max), .integer(-1), .real(-0.5), .real(1e300),
    .real(.infinity),
    .text(""), .text("Grüße, 안녕 🎬"), .text("'; DROP TABLE thing; --"), .text("\\x00"), .blob([]), .blob([0]),
    .blob(Array(0...255) + Array((0...255).reversed())),
  ])
  func `a value is read back as it was written`(value: SQLValue) throws {
    let connection = try connect(sharedServer())
    let type =
      switch value {
      case .null, .text: "TEXT"
      case .integer: "BIGINT"
      case .real: "DOUBLE PRECISION"
      case .blob: "BYTEA"
      }
    let rows = try connection.run("SELECT CAST(\(value) AS \(unsafeRawSQL: type)), 'beside'", by: soon)
    #expect(rows.count == 1)
    #expect(try rows[0].value(0) == value)
    #expect(try rows[0].text(1) == "beside")
  }

  @Test func `NaN is read back as NaN`() throws {
    let rows = try connect(sharedServer()).run("SELECT CAST(\(Double.nan) AS FLOAT8), CAST(1.5 AS FLOAT4)", by: soon)
    #expect(try rows[0].real(0).isNaN && rows[0].real(1) == 1.5)
  }

  @Test func `a text with a zero byte is refused before anything is sent`() throws {
    let connection = try connectShared()
    let error = try failure {
      try connection.run("INSERT INTO thing VALUES (\(1), \("a\u{0}b"))", by: soon)
    }
    #expect(error.kind == .value && error.message.contains("parameter 2") && error.message.contains("zero byte"))
    #expect(connection.isOpen)
    #expect(try connection.run("SELECT 1 FROM thing", by: soon).isEmpty)
  }

  @Test func `a value of the wrong type is refused with the parameter's number`() throws {
    let connection = try connectShared()
    let error = try failure { try connection.run("INSERT INTO thing VALUES (\("7"), \("x"))", by: soon) }
    #expect(error.kind == .value && error.message == "parameter 1 is a text, and the statement wants int8")
    let large = try failure { try connection.run("SELECT CAST(\(Int64.max) AS INTEGER)", by: soon) }
    #expect(large.kind == .value && large.message.contains("larger"))
    let missing = try failure { try connection.run("SELECT ?", by: soon) }
    #expect(missing.kind == .value && missing.message.contains("1 values are needed, 0 were given"))
    #expect(connection.isOpen)
  }

  @Test func `columns are read by their exact type`() throws {
    let row = try connect(sharedServer()).run(
      "SELECT 7, 'seven', '\\x0707'::bytea, NULL, true, now() AS moment", by: soon)[0]
    #expect(try row.integer(0) == 7 && row.text(1) == "seven" && row.blob(2) == [7, 7] && row.isNull(3))
    #expect(try row.integer(4) == 1 && row.count == 6)
    for wrong in [
      try failure { _ = try row.text(0) }, try failure { _ = try row.integer(1) }, try failure { _ = try row.blob(3) },
      try failure { _ = try row.integer(6) }, try failure { _ = try row.text(-1) },
    ] { #expect(wrong.kind == .value) }
    #expect(try failure { _ = try row.text(5) }.message.contains("moment"))
  }

  @Test func `rows stay readable after their connection is gone`() throws {
    var connection: Connection? = try connect(sharedServer())
    let rows = try connection?.run("SELECT * FROM generate_series(1, 3)", by: soon)
    connection = nil
    #expect(try rows?.map { try $0.integer(0) } == [1, 2, 3])
  }

  @Test(arguments: [
    ("SELECT ?, ?", "SELECT $1, $2"), ("SELECT '?', ?", "SELECT '?', $1"), ("SELECT \"?\" = ?", "SELECT \"?\" = $1"),
    ("SELECT 'it''s ?' -- why?\n, ?", "SELECT 'it''s ?' -- why?\n, $1"), ("SELECT 1 - ?", "SELECT 1 - $1"),
  ])
  func `placeholders are numbered, but not inside of texts and comments`(sql: String, expected: String) {
    #expect(numbered(sql) == expected)
  }
}
