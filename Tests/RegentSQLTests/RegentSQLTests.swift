import RegentSQL
import Testing

@Suite("SQL statements and their values")
struct RegentSQLTests {
  @Test func `interpolated values become parameters and never part of the SQL text`() {
    let sql: SQL = "SELECT \("'; DROP TABLE thing; --") WHERE id = \(7) AND name IN \(list: ["a", "b"])"
    #expect(sql.text == "SELECT ? WHERE id = ? AND name IN (?,?)")
    #expect(sql.values == [.text("'; DROP TABLE thing; --"), .integer(7), .text("a"), .text("b")])
  }

  @Test func `printing a statement or a value never shows a value`() {
    let sql: SQL = "SELECT \("hunter2"), \(unsafeRawSQL: "name")"
    #expect("\(sql)" == "SELECT ?, name")
    #expect(!String(reflecting: sql).contains("hunter2"))
    #expect(!String(reflecting: SQLValue.text("hunter2")).contains("hunter2"))
    #expect("\(SQLValue.blob([1, 2]))" == "2 bytes")
  }

  @Test func `each Swift type has its SQL value, and nil is NULL`() {
    let nothing: Int? = nil
    let sql: SQL = "\(true)\(false)\(1.5)\([1, 2] as [UInt8])\(Int64.max)\(nothing.sqlValue)"
    #expect(sql.values == [.integer(1), .integer(0), .real(1.5), .blob([1, 2]), .integer(.max), .null])
  }
}
