import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import SQLite
import TestSupport
import Testing

/// Checks the query plans that SQLite chooses for new codes and for queries about codes.
@Suite struct `Indexes of the registration table` {
  @Test func `a new code is inserted without a temporary table`() throws {
    let insert: SQL = "\(unsafeRawSQL: Tables.registrations.insertNew)"
    let steps = try plan("EXPLAIN", of: insert, column: 1)
    #expect(steps.contains("Insert"))
    // One write for the table, two for its unique indexes and two for the other indexes that each new code is in.
    #expect(steps.filter { $0 == "IdxInsert" }.count == 5)
    #expect(steps.filter { $0.hasPrefix("OpenEphemeral") || $0.hasPrefix("OpenAutoindex") }.isEmpty)
  }

  @Test func `the codes of a device are found by an index and not by a scan`() throws {
    let question = CodeQueries.waiting(
      of: try #require(DeviceHash([UInt8](repeating: 1, count: 32))), at: try ConformanceFixture.name("REF30"))
    #expect(
      try queryPlan(of: question)
        == ["SEARCH registration USING INDEX registration_waiting (device_hash=?)"])
  }

  @Test func `counting the live codes reads an index only`() throws {
    #expect(
      try plan("EXPLAIN QUERY PLAN", of: CodeQueries.countLive(at: Instant(milliseconds: 1)), column: 3)
        == ["SEARCH registration USING COVERING INDEX registration_age (expires>?)"])
  }
}

/// The query plan of a question about sign-ins or codes, one line for each step.
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
