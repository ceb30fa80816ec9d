import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

private func named<Kind>(_ text: String) throws -> Identifier<Kind> { try #require(Identifier<Kind>(text)) }

// How nodes register in the database and what they report about themselves.
extension NewsTests {
  @Test func `two stores cannot have the same node name at once`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let displaced = Locked<PostgreSQLError?>(nil)
    var options = try place.options(node: "box")
    options.onDisplaced = { error in displaced.withLock { $0 = error } }
    let store = try PostgreSQLStore(options)
    defer { store.close() }
    let refused = #expect(throws: PostgreSQLError.self) { try PostgreSQLStore(place.options(node: "box")).close() }
    #expect(refused?.message == "another service that is called “box” uses this database")
    #expect(refused?.hint?.contains("--node NAME") == true)
    try PostgreSQLStore(place.options(node: "other")).close()
    // A row whose backend process no longer exists does not count, even if it was updated just now.
    let operating = try place.connect()
    try operating.run("UPDATE node SET lane = 1, backend = 0, seen = now() WHERE name = 'box'", by: serverDeadline)
    // A store that finds another backend under its name reports that it was displaced.
    let told = try await eventually("the first store to report that it was displaced") {
      try operating.run(
        "UPDATE node SET lane = 1, backend = pg_backend_pid(), seen = now() WHERE name = 'box'", by: serverDeadline)
      return displaced.withLock { $0 }
    }
    #expect(told.message == refused?.message)
  }

  @Test func `a node name is free again once its store is gone`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    try PostgreSQLStore(place.options(node: "box")).close()
    let operating = try place.connect()
    func names() throws -> Int64? {
      try operating.run("SELECT count(*) FROM node", by: serverDeadline).first?.integer(0)
    }
    #expect(try names() == 0)
    // As after SIGKILL: the row is recent, but the backend process no longer exists.
    try operating.run("INSERT INTO node (name, lane, backend, version) VALUES ('box', 1, 0, '')", by: serverDeadline)
    try PostgreSQLStore(place.options(node: "box")).close()
    // Behind a connection pooler the backend lives on, so the age of the row decides.
    try operating.run(
      """
      INSERT INTO node (name, lane, backend, version, seen)
      VALUES ('box', 1, pg_backend_pid(), '', now() - INTERVAL '6 seconds')
      """, by: serverDeadline)
    try PostgreSQLStore(place.options(node: "box")).close()
  }

  @Test func `a killed node is reported as silent, and a node that left is not`() async throws {
    try await withTwo { place, one, _ in
      let operating = try place.connect()
      try PostgreSQLStore(place.options(node: "gone")).close()
      try operating.run(
        """
        INSERT INTO node (name, lane, backend, version, seen)
        VALUES ('killed', 1, 0, '', now() - INTERVAL '6 seconds'), ('young', 2, 0, '', now())
        """, by: serverDeadline)
      try await eventually("the killed node to be reported") {
        let heard = try await one.report("")
        return heard.silent == [try named("killed")] && heard.serving == 3 ? true : nil
      }
    }
  }

  @Test func `a node keeps its start time and its drain instruction when a standby is promoted`() async throws {
    try await withTwo { place, one, other in
      func own() async throws -> NodeRecord? { try await other.nodes().first { $0.id.text == "one" } }
      #expect(try await other.tell(named("one"), .drain))
      try await eventually("the first node to receive the instruction") {
        try await one.report("").instruction == .drain ? true : nil
      }
      let operating = try place.connect()
      let before = try #require(try await own())
      try await eventually("the node to be three seconds old") { () throws -> Bool? in
        let age: SQL = "SELECT CAST(extract(epoch FROM now() - started) AS BIGINT) FROM node WHERE name = 'one'"
        return try operating.run(age, by: serverDeadline)[0].integer(0) > 3 ? true : nil
      }
      // The table is unlogged, so a promoted standby starts with an empty one.
      try operating.run("TRUNCATE node", by: serverDeadline)
      let after = try await eventually("the first node to register again") { try await own() }
      #expect(after.started.since(before.started).wholeMilliseconds.magnitude < 1_000, "\(after) \(before)")
      #expect(after.instruction == .drain)
      #expect(try await other.tell(named("one"), nil))
      try await eventually("the first node to see that the instruction was withdrawn") {
        try await one.report("").instruction == nil ? true : nil
      }
    }
  }

  /// These tables are not signed: an attacker who may write there can store any time.
  @Test func `times far in the future or past do not keep nodes from listing, receiving changes and serving`()
    async throws
  {
    try await withTwo { place, one, other in
      let operating = try place.connect()
      try await eventually("both nodes to see each other") { try await one.report("").serving == 2 ? true : nil }
      let from = try await other.changes(after: other.endOfChanges(), waiting: .zero).position
      let nonce = UsedNonce(key: try named("key"), second: 7, mark: 9)
      try await one.share([nonce])
      try operating.run(
        """
        INSERT INTO node (name, lane, backend, version, seen, started) VALUES
        ('far', 1, 0, '', 'infinity', 'infinity'), ('gone', 2, 0, '', '-infinity', '-infinity'),
        ('late', 3, 0, '', '9999-01-01', now()), ('odd', 4, 0, '', now(), '-infinity')
        """, by: serverDeadline)
      try operating.run(
        """
        INSERT INTO nonce (n, lane, used, guesses, at)
        SELECT n + 1, CAST(1 AS BIGINT), '', '', CAST('infinity' AS TIMESTAMPTZ) FROM nonce_count UNION ALL
        SELECT n + 2, 1, '', '', '-infinity' FROM nonce_count UNION ALL SELECT n + 3, 1, '', '', '9999-01-01' FROM nonce_count
        """, by: serverDeadline)
      try operating.run("UPDATE nonce_count SET n = n + 3", by: serverDeadline)
      try operating.run("INSERT INTO lease (name, node, until) VALUES ('upkeep', 'x', 'infinity')", by: serverDeadline)
      let nodes = try await one.nodes()
      #expect(nodes.map(\.id.text) == ["far", "late", "odd", "one", "other"])
      #expect(nodes.map { $0.silence >= .seconds(86_400) } == [true, true, false, false, false], "\(nodes)")
      #expect(try await other.changes(after: from, waiting: .zero).nonces == [nonce])
      try await eventually("forged nodes not to be counted") {
        let heard = try await one.report("")
        return try heard.serving == 3 && heard.silent == [named("far"), named("gone"), named("late")] ? true : nil
      }
      #expect(try await !one.tell(named("far"), .drain))
      #expect(try await one.take(.upkeep, as: named("one"), for: .seconds(10), at: Instant(milliseconds: 0)))
      #expect(try await one.nodes().map(\.id.text) == ["odd", "one", "other"])
      let left = try operating.run("SELECT count(*) FROM nonce WHERE at > now() + INTERVAL '1 day'", by: serverDeadline)
      #expect(try left[0].integer(0) == 0)
    }
  }

  @Test func `nodes receive what other nodes report and what operators instruct`() async throws {
    try await withTwo { _, one, other in
      _ = try await one.report("I am one")
      let heard = try await eventually("the first node's report") {
        let nodes = try await other.nodes()
        return nodes.first?.said == "I am one" ? nodes : nil
      }
      #expect(heard.map(\.id.text) == ["one", "other"] && heard.allSatisfy { $0.instruction == nil })
      #expect(try await other.tell(named("one"), .drain))
      #expect(try await !other.tell(named("nobody"), .drain))
      try await eventually("the first node to receive the instruction") {
        try await one.report("").instruction == .drain ? true : nil
      }
      #expect(try await other.report("").instruction == nil)
      #expect(try await other.tell(named("one"), nil))
      try await eventually("the first node to see that the instruction was withdrawn") {
        try await one.report("").instruction == nil ? true : nil
      }
    }
  }
}
