@testable import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentSQL
import TestSupport
import Testing

/// A transaction with prefetched questions over its own table `thing`.
///
/// Each row has an `owner`, so a question can select one row or all rows of an owner.
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
    // "é" in two spellings: Swift compares them as equal, PostgreSQL does not.
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

  /// What the transaction answers, which may come from its cache.
  func told(_ question: Question) throws -> [[SQLValue]] { try Self.values(transaction.ask(question.sql)) }

  /// What the database answers: the added `AND true` makes a statement that is not in the cache.
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
    sql: "SELECT id, owner, n, bytes FROM thing WHERE n = \(n.column) AND bytes = \(bytes)", table: "thing",
    columns: ["n", "bytes"])
}

private let ids = ["a", "b", "c", "nobody", "\u{E9}", "e\u{301}", "", "'?' -- $1"]
private let owners = ["one", "two", "three", "nobody"]
private let all: [Question] =
  ids.map(byID) + owners.map(byOwner) + [byNumber(1, [1]), byNumber(2, [1]), byNumber(nil, []), byNumber(5, [])]

/// The columns that identify a row, in the form in which the store's functions declare the rows they write.
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
  Write("with no declared row") { try $0.run("UPDATE thing SET n = n + 10, owner = 'two'") },
  Write("with no declared row, counting rows") { _ = try $0.runCounting("UPDATE thing SET n = n + 10, owner = 'two'") },
  Write("of a row declared by its id only") {
    try $0.run("UPDATE thing SET n = 10, bytes = '\\x01', owner = 'two' WHERE id = 'a'", touching: row("a"))
  },
  Write("of all rows of one owner") {
    try $0.run(
      "DELETE FROM thing WHERE owner = 'one'",
      touching: TouchedRow("thing", [(.text("owner"), .text("one"))]))
  },
  Write("that moves a row to another owner") {
    try $0.changeOne(
      "UPDATE thing SET owner = 'two' WHERE id = 'a'", of: "thing", touching: [row("a", "one"), row("a", "two")])
  },
  Write("that inserts a new row") {
    try $0.insert(
      "INSERT INTO thing (id, owner) VALUES ('nobody', 'three')", inPlaceOf: "SELECT 1",
      touching: row("nobody", "three"))
  },
  Write("that inserts a row unless it exists") {
    let new = "INSERT INTO thing (id, owner) VALUES (?, ?)"
    let isNew = try $0.insertNew(new, new, [.text("nobody"), .text("nobody")], touching: row("nobody", "nobody"))
    #expect(isNew)
  },
  Write("of a row whose id has two spellings") {
    try $0.run("DELETE FROM thing WHERE id = \("\u{E9}")", touching: row("\u{E9}", "three"))
  },
]

@Suite("Prefetched answers of a transaction", .serialized)
struct AnswersTests {
  @Test func `prefetched questions get the same answers as questions that are asked one by one`() throws {
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
  fileprivate func `a write discards the prefetched answers that it changes`(write: Write) throws {
    let asking = try AskingAhead(all)
    defer { asking.end() }
    let before = try all.map { try asking.told($0) }
    try write.run(asking.context)
    // Read all cached answers before the first question that reaches the database, because that one also sends the
    // write.
    let after = try all.map { question in (question: question, told: try asking.told(question)) }
    #expect(after.map(\.told) != before, "the write changes something that is asked")
    for (question, told) in after { #expect(try told == asking.truth(question), "\(question.sql)") }
  }

  @Test func `undoing a request discards the answers that saw its writes`() throws {
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

  @Test func `answers that were asked one by one are cached, and an undone request discards those that saw its writes`()
    throws
  {
    let asking = try AskingAhead([])
    defer { asking.end() }
    func told(_ question: Question) throws -> [[SQLValue]] {
      try AskingAhead.values(asking.transaction.ask(question))
    }
    let (a, one) = (try told(byID("a")), try told(byOwner("one")))
    // A write the transaction does not know of. A second query would see it, so an unchanged answer comes from the
    // cache.
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

  @Test func `the head of the audit log stays cached until its request is undone or a statement may have written it`()
    throws
  {
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

  @Test func `questions that depend on the first answers are prefetched together by one statement`() throws {
    let asking = try AskingAhead([byID("a"), byID("b")])
    defer { asking.end() }
    let first = try asking.told(byOwner("one"))
    #expect(first.count == 2)
    try asking.transaction.askAhead(
      ["a", "b", "c"].map { id in
        { context in
          let found = try context.ask(byID(id))
          #expect(id != "c", "c was not prefetched, so the closure must stop at its question")
          return [byOwner(try found[0].text(1)), byID("c")]
        }
      })
    try asking.connection.run("UPDATE thing SET n = 20", by: serverDeadline)
    #expect(try asking.told(byOwner("one")) == first && asking.told(byID("c"))[0][2] == .integer(3))
  }

  @Test func `a write to other rows keeps the cached answers`() throws {
    let asking = try AskingAhead(all)
    defer { asking.end() }
    let before = try asking.told(byID("b"))
    try asking.context.run("UPDATE thing SET n = 10 WHERE id = 'a'", touching: row("a", "one"))
    try asking.context.run("DELETE FROM lane", touching: TouchedRow("lane", []))
    // A write the transaction does not know of. A second query would see it, so an unchanged answer comes from the
    // cache.
    try asking.connection.run("UPDATE thing SET n = 20 WHERE id = 'b'", by: serverDeadline)
    #expect(try asking.told(byID("b")) == before && asking.truth(byID("b")) != before)
    // By the declared columns, the written row may belong to this owner, so the answer is read again.
    #expect(try asking.told(byOwner("one")) == asking.truth(byOwner("one")))
    #expect(try asking.told(byID("a")) == asking.truth(byID("a")))
  }

  @Test func `new rows of one table are inserted together and keep their order among other writes`() throws {
    let asking = try AskingAhead([])
    defer { asking.end() }
    for number in 0..<150 {
      let new = "INSERT INTO thing (id, owner, n) VALUES (?, ?, ?)"
      asking.transaction.beginRequest()
      let owner: SQLValue = number % 2 == 0 ? .null : .text("new")
      let values: [SQLValue] = [.text("new \(number)"), owner, .integer(Int64(number))]
      _ = try asking.context.insertNew(new, new, values, touching: row("new \(number)"))
      // This update depends on the insert before it, and the next insert comes after it.
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

  @Test func `equal statements are combined in batches of a few fixed sizes`() {
    let rows = (0..<150).map { SQL(unsafeRawSQL: "INSERT INTO thing (id) VALUES (?)", [.integer(Int64($0))]) }
    #expect(BatchedStatements.inserts(rows[...]).map(\.values.count) == [64, 64, 16, 4, 2])
    #expect(BatchedStatements.inserts(rows[7...]).flatMap(\.values) == rows[7...].flatMap(\.values))
    #expect(BatchedStatements.inserts(rows[..<1]).map(\.text) == ["INSERT INTO thing (id) VALUES (?)"])
    let asked = BatchedStatements.questions("SELECT 1 WHERE 1 = ?", (0..<300).map { [.integer($0)] })
    #expect(asked.map(\.questions) == [0..<256, 256..<288, 288..<296, 296..<300])
    #expect(asked.map(\.sql.values.count) == [256, 32, 8, 4])
  }
}
