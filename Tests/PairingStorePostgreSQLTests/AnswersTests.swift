@testable import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentSQL
import TestSupport
import Testing

/// A transaction that asks ahead, over a table of its own: `a`, `b` and others that stand in rows of owners.
private struct AskingAhead {
  let place: DatabasePlace
  let connection: Connection
  let transaction: Transaction
  var context: WriteContext { WriteContext(transaction) }

  init(_ questions: [Question]) throws {
    place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    try PostgreSQLStore(place.options()).close()
    connection = try place.connect()
    try connection.run(
      "CREATE TABLE thing (id TEXT COLLATE \"C\" PRIMARY KEY, owner TEXT, n BIGINT, bytes BYTEA)", by: serverDeadline)
    // "é" in two spellings: one text for Swift, two for the database.
    try connection.run(
      """
      INSERT INTO thing VALUES ('a', 'one', 1, '\\x01'), ('b', 'one', 2, '\\x02'), ('c', 'two', 3, NULL),
      (\("\u{E9}"), 'three', 4, ''), (\("e\u{301}"), NULL, 5, '')
      """, by: serverDeadline)
    transaction = try Transaction(connection, isShared: true, asking: questions, by: serverDeadline)
    transaction.beginRequest()
  }

  func end() {
    transaction.rollBack()
    try? place.remove()
  }

  /// What the store would be told now.
  func told(_ question: Question) throws -> [[SQLValue]] { try Self.values(transaction.ask(question.sql)) }

  /// What the database says when it is asked in words that nobody asked ahead.
  func truth(_ question: Question) throws -> [[SQLValue]] {
    let sql = SQL(unsafeRawSQL: "\(question.sql.text) AND true", question.sql.values)
    return try Self.values(transaction.ask(sql))
  }

  static func values(_ rows: Rows) throws -> [[SQLValue]] {
    let found = try rows.map { row in (id: try row.text(0), values: try (0..<4).map { try row.value($0) }) }
    return found.sorted { $0.id < $1.id }.map(\.values)
  }
}

private func byID(_ id: String) -> Question {
  Question(sql: "SELECT id, owner, n, bytes FROM thing WHERE id = \(id)", table: "thing", columns: ["id"])
}

private func byOwner(_ owner: String) -> Question {
  Question(sql: "SELECT id, owner, n, bytes FROM thing WHERE owner = \(owner)", table: "thing", columns: ["owner"])
}

private func byNumber(_ n: Int64?, _ bytes: [UInt8]) -> Question {
  Question(
    sql: "SELECT id, owner, n, bytes FROM thing WHERE n = \(SQLValue.optional(n)) AND bytes = \(bytes)", table: "thing",
    columns: ["n", "bytes"])
}

private let ids = ["a", "b", "c", "nobody", "\u{E9}", "e\u{301}", "", "'?' -- $1"]
private let owners = ["one", "two", "three", "nobody"]
private let all: [Question] =
  ids.map(byID) + owners.map(byOwner) + [byNumber(1, [1]), byNumber(2, [1]), byNumber(nil, []), byNumber(5, [])]

/// What a row is known by, as the verbs say it.
private func row(_ id: String, _ owner: String? = nil) -> TouchedRow {
  var known: [(column: Column, value: SQLValue)] = [(.text("id"), .text(id))]
  if let owner { known.append((.text("owner"), .text(owner))) }
  return TouchedRow("thing", known)
}

private struct Write: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let run: @Sendable (WriteContext) throws -> Void

  init(_ name: String, _ run: @escaping @Sendable (WriteContext) throws -> Void) {
    (testDescription, self.run) = (name, run)
  }
}

private let writes = [
  Write("of which nobody knows what it writes") { try $0.run("UPDATE thing SET n = n + 10, owner = 'two'") },
  Write("that is counted") { _ = try $0.runCounting("UPDATE thing SET n = n + 10, owner = 'two'") },
  Write("of a row of which one column is known") {
    try $0.run("UPDATE thing SET n = 10, bytes = '\\x01', owner = 'two' WHERE id = 'a'", touching: row("a"))
  },
  Write("of all rows of an owner") {
    try $0.run(
      "DELETE FROM thing WHERE owner = 'one'",
      touching: TouchedRow("thing", [(.text("owner"), .text("one"))]))
  },
  Write("that moves a row from one owner to another") {
    try $0.changeOne(
      "UPDATE thing SET owner = 'two' WHERE id = 'a'", of: "thing", touching: [row("a", "one"), row("a", "two")])
  },
  Write("of a new row") {
    try $0.insert(
      "INSERT INTO thing (id, owner) VALUES ('nobody', 'three')", inPlaceOf: "SELECT 1",
      touching: row("nobody", "three"))
  },
  Write("of a row that may be there") {
    let new = "INSERT INTO thing (id, owner) VALUES (?, ?)"
    let isNew = try $0.insertNew(new, new, [.text("nobody"), .text("nobody")], touching: row("nobody", "nobody"))
    #expect(isNew)
  },
  Write("of one spelling of a name") {
    try $0.run("DELETE FROM thing WHERE id = \("\u{E9}")", touching: row("\u{E9}", "three"))
  },
]

@Suite("Answers that were asked ahead", .serialized)
struct AnswersTests {
  @Test func `are those that each question gets alone, however many are asked together`() throws {
    for count in [1, 2, 3, 7, 64, 300] {
      let asking = try AskingAhead(all + (0..<count).map { byID("more \($0)") } + all)
      defer { asking.end() }
      for question in all {
        #expect(try asking.told(question) == asking.truth(question), "\(question.sql.values.count) of \(count)")
      }
      #expect(try asking.told(byID("more 0")).isEmpty)
    }
  }

  @Test(arguments: writes)
  fileprivate func `are asked anew after a write that changes them`(write: Write) throws {
    let asking = try AskingAhead(all)
    defer { asking.end() }
    let before = try all.map { try asking.told($0) }
    try write.run(asking.context)
    // All that was told before anything is asked, which would send the write.
    let after = try all.map { question in (question: question, told: try asking.told(question)) }
    #expect(after.map(\.told) != before, "the write changes something that is asked")
    for (question, told) in after { #expect(try told == asking.truth(question), "\(question.sql)") }
  }

  @Test func `are asked anew after a request that was undone`() throws {
    let asking = try AskingAhead(all)
    defer { asking.end() }
    let before = try all.map { question in (question: question, told: try asking.told(question)) }
    let beforeOfA = try #require(before.first { $0.question.sql.values == [.text("a")] }).told
    try asking.context.run("UPDATE thing SET owner = 'two' WHERE id = 'a'", touching: row("a"))
    _ = try asking.context.runCounting("UPDATE thing SET owner = 'three' WHERE id = 'b'")
    #expect(try asking.told(byID("a")) != beforeOfA)
    asking.transaction.undoRequest()
    asking.transaction.beginRequest()
    for (question, earlier) in before {
      #expect(try asking.told(question) == earlier)
      #expect(try asking.truth(question) == earlier)
    }
  }

  @Test func `are kept when they were asked for one by one, and end with the request that saw its own rows`() throws {
    let asking = try AskingAhead([])
    defer { asking.end() }
    func told(_ question: Question) throws -> [[SQLValue]] {
      try AskingAhead.values(asking.transaction.ask(question))
    }
    let (a, one) = (try told(byID("a")), try told(byOwner("one")))
    // Nobody but this transaction may write, and it does not know of this: asked again it would be told.
    try asking.connection.run("UPDATE thing SET n = 20 WHERE id = 'b'", by: serverDeadline)
    #expect(try told(byID("a")) == a && told(byOwner("one")) == one)
    try asking.context.run("UPDATE thing SET n = 10 WHERE id = 'a'", touching: row("a", "one"))
    #expect(try told(byID("a")) != a && told(byOwner("one")) != one)
    asking.transaction.beginRequest()
    try asking.context.run("UPDATE thing SET owner = 'two' WHERE id = 'a'", touching: row("a"))
    let changed = try told(byID("a"))
    #expect(try changed == asking.truth(byID("a")) && told(byOwner("one")).count == 1)
    asking.transaction.undoRequest()
    asking.transaction.beginRequest()
    for question in [byID("a"), byOwner("one")] { #expect(try told(question) == asking.truth(question)) }
    #expect(try told(byID("a")) != changed)
  }

  @Test func `the head of the audit log is known until its request is undone or it may have been written`() throws {
    let asking = try AskingAhead([])
    defer { asking.end() }
    let head = Stored(record: AuditHead(newest: 7), values: [], signature: [1])
    let others: [(WriteContext) throws -> Void] = [
      { try $0.run("DELETE FROM audit_head") },
      { try $0.run("DELETE FROM audit_head", touching: TouchedRow(Tables.auditHead, [.text("audit")])) },
      { $0.transaction.undoRequest() },
    ]
    for other in others {
      asking.context.note(written: head)
      #expect(asking.context.writtenAuditHead?.record == head.record)
      try asking.context.run("DELETE FROM thing", touching: row("a"))
      #expect(asking.context.writtenAuditHead?.record == head.record)
      try other(asking.context)
      #expect(asking.context.writtenAuditHead == nil)
    }
  }

  @Test func `what can be named with the first answers is asked with one statement, once`() throws {
    let asking = try AskingAhead([byID("a"), byID("b")])
    defer { asking.end() }
    let first = try asking.told(byOwner("one"))
    #expect(first.count == 2)
    try asking.transaction.askAhead(
      ["a", "b", "c"].map { id in
        { context in
          let found = try context.ask(byID(id))
          #expect(id != "c", "nobody has asked for it")
          return [byOwner(try found[0].text(1)), byID("c")]
        }
      })
    try asking.connection.run("UPDATE thing SET n = 20", by: serverDeadline)
    #expect(try asking.told(byOwner("one")) == first && asking.told(byID("c"))[0][2] == .integer(3))
  }

  @Test func `stand while other rows are written`() throws {
    let asking = try AskingAhead(all)
    defer { asking.end() }
    let before = try asking.told(byID("b"))
    try asking.context.run("UPDATE thing SET n = 10 WHERE id = 'a'", touching: row("a", "one"))
    try asking.context.run("DELETE FROM lane", touching: TouchedRow("lane", []))
    // Nobody but this transaction may write, and it does not know of this: asked again it would be told.
    try asking.connection.run("UPDATE thing SET n = 20 WHERE id = 'b'", by: serverDeadline)
    #expect(try asking.told(byID("b")) == before && asking.truth(byID("b")) != before)
    // By the columns that are known the row may be an owner's.
    #expect(try asking.told(byOwner("one")) == asking.truth(byOwner("one")))
    #expect(try asking.told(byID("a")) == asking.truth(byID("a")))
  }

  @Test func `new rows of one table are written together, in their order among the rest`() throws {
    let asking = try AskingAhead([])
    defer { asking.end() }
    for number in 0..<150 {
      let new = "INSERT INTO thing (id, owner, n) VALUES (?, ?, ?)"
      asking.transaction.beginRequest()
      let owner: SQLValue = number % 2 == 0 ? .null : .text("new")
      let values: [SQLValue] = [.text("new \(number)"), owner, .integer(Int64(number))]
      _ = try asking.context.insertNew(new, new, values, touching: row("new \(number)"))
      // Stands on the row before it, and the next one on what it did.
      if number % 50 == 49 {
        try asking.context.changeOne(
          "UPDATE thing SET n = -1 WHERE id = \("new \(number)") AND n = \(number)", of: "thing",
          touching: [row("new \(number)")])
        _ = try asking.context.insertNew(
          new, new, [.text("behind \(number)"), .text("new"), .integer(0)], touching: row("behind \(number)"))
      }
      asking.transaction.endRequest()
    }
    func count(_ condition: SQL) throws -> Int64 {
      try asking.transaction.ask("SELECT count(*) FROM thing WHERE \(part: condition)")[0].integer(0)
    }
    #expect(try count("id LIKE 'new %'") == 150 && count("id LIKE 'behind %'") == 3)
    #expect(try count("n = -1") == 3 && count("owner = 'new'") == 78)
    #expect(try count("id LIKE 'new %' AND n >= 0 AND id <> 'new ' || n") == 0)
  }

  @Test func `what is alike goes as few statements of few lengths`() {
    let rows = (0..<150).map { SQL(unsafeRawSQL: "INSERT INTO thing (id) VALUES (?)", [.integer(Int64($0))]) }
    #expect(BatchedStatements.inserts(rows[...]).map(\.values.count) == [64, 64, 16, 4, 2])
    #expect(BatchedStatements.inserts(rows[7...]).flatMap(\.values) == rows[7...].flatMap(\.values))
    #expect(BatchedStatements.inserts(rows[..<1]).map(\.text) == ["INSERT INTO thing (id) VALUES (?)"])
    let asked = BatchedStatements.questions("SELECT 1 WHERE 1 = ?", (0..<300).map { [.integer($0)] })
    #expect(asked.map(\.questions) == [0..<256, 256..<288, 288..<296, 296..<300])
    #expect(asked.map(\.sql.values.count) == [256, 32, 8, 4])
  }
}
