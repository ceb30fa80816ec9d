import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import SQLite
import TestSupport
import Testing

/// What a new code and the questions about codes make SQLite do, as its own plans say.
@Suite struct `The indexes of codes` {
  @Test func `a new code needs no table of its own to be written`() throws {
    let insert: SQL = "\(unsafeRawSQL: Tables.registrations.insertNew)"
    let steps = try plan("EXPLAIN", of: insert, column: 1)
    #expect(steps.contains("Insert"))
    // The table, its two unique indexes, and two more for each new code.
    #expect(steps.filter { $0 == "IdxInsert" }.count == 5)
    #expect(steps.filter { $0.hasPrefix("OpenEphemeral") || $0.hasPrefix("OpenAutoindex") }.isEmpty)
  }

  @Test func `the codes of a device are found without going through those of all`() throws {
    let question = CodeQueries.waiting(
      of: try #require(DeviceHash([UInt8](repeating: 1, count: 32))), at: try ConformanceFixture.name("REF30"))
    #expect(
      try queryPlan(of: question)
        == ["SEARCH registration USING INDEX registration_waiting (device_hash=?)"])
  }

  @Test func `counting the live codes reads no row of the table`() throws {
    #expect(
      try plan("EXPLAIN QUERY PLAN", of: CodeQueries.countLive(at: Instant(milliseconds: 1)), column: 3)
        == ["SEARCH registration USING COVERING INDEX registration_age (expires>?)"])
  }
}

/// What SQLite does for a question about sign-ins or codes.
func queryPlan(of question: SQL) throws -> [String] {
  try plan("EXPLAIN QUERY PLAN", of: question, column: 3)
}

private func plan(_ verb: String, of question: SQL, column: Int) throws -> [String] {
  try withTemporaryFolder { folder in
    let file = StoreFile(path: "\(folder)/regent.db")
    let text = question.description
    let nothing = [SQLValue](repeating: .null, count: text.filter { $0 == "?" }.count)
    return try file.behindTheBack { context in
      try context.all(SQL(unsafeRawSQL: "\(verb) \(text)", nothing)) { try $0.text(column) }
    }
  }
}
