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

private let start = Instant(milliseconds: 1_000)

extension PostgreSQLStore {
  fileprivate func add(_ text: String) async throws {
    _ = try await put(.requestor(Requestor(id: named(text), name: text)), replacing: nil, audit: nil, at: start)
  }
}

@Suite("Change notifications between nodes on PostgreSQL", .serialized)
struct NewsTests {
  func withTwo(
    _ wakeups: Wakeups = .bell, on server: PostgreSQLServer? = nil, floodPause: Duration = .seconds(60),
    _ body: (DatabasePlace, PostgreSQLStore, PostgreSQLStore) async throws -> Void
  ) async throws {
    let place = try DatabasePlace(on: server ?? PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    func open(_ name: String) throws -> PostgreSQLStore {
      var options = try place.options(node: name)
      options.wakeups = wakeups
      options.floodPause = floodPause
      // Too long to poll during a test: a store that listens is woken by notifications only.
      options.lookPause = .seconds(3600)
      return try PostgreSQLStore(options)
    }
    let (one, other) = (try open("one"), try open("other"))
    defer {
      one.close()
      other.close()
    }
    try await body(place, one, other)
  }

  @Test(arguments: Wakeups.allCases)
  func `a wait for changes ends when another store writes, with notifications and with polling`(wakeups: Wakeups)
    async throws
  {
    try await withTwo(wakeups) { place, one, other in
      let operating = try place.connect()
      let began = try operating.run("SELECT CAST(clock_timestamp() AS TEXT)", by: serverDeadline)[0].text(0)
      // True once the other store has polled, found nothing and waits.
      func hasLooked() throws -> Bool? {
        let rows = try operating.run(
          """
          SELECT 1 FROM pg_stat_activity WHERE application_name = 'regent other' AND state = 'idle'
          AND query LIKE '%nonce_count%' AND query_start > CAST(CAST(\(began) AS TEXT) AS TIMESTAMPTZ)
          """, by: serverDeadline)
        return rows.isEmpty ? nil : true
      }
      let from = try await other.endOfChanges()
      // The wait itself lasts an hour, so an earlier return means that a notification or a poll ended it.
      let woken = Locked(false)
      let waiting = Task {
        let page = try await other.changes(after: from, waiting: .seconds(3_600))
        woken.withLock { $0 = true }
        return page
      }
      try await eventually("the other store to wait", hasLooked)
      try await one.add("REF30")
      try await eventually("the other store to be woken") { woken.withLock { $0 } }
      let page = try await waiting.value
      #expect(page.changes == [.provisioning] && page.isWhole)
      let nonce = UsedNonce(key: try named("key"), second: 7, mark: 9)
      let more = Task { try await other.changes(after: page.position, waiting: .seconds(3_600)) }
      try await one.share([nonce])
      #expect(try await more.value.nonces == [nonce])
    }
  }

  @Test func `a store whose database was moved away reports no changes and refuses writes`() async throws {
    try await withTwo { place, one, other in
      let operating = try place.connect()
      let from = try await one.endOfChanges()
      for state in ["moved to a file", "moving"] {
        try operating.run("UPDATE cluster SET state = \(state)", by: serverDeadline)
        let error = await #expect(throws: StoreError.self) {
          _ = try await one.changes(after: from, waiting: .milliseconds(1))
        }
        #expect(error?.description.contains(state) == true, "\(error as Any)")
        await #expect(throws: StoreError.self) { try await other.tryWriting() }
      }
      try operating.run("UPDATE cluster SET state = 'open'", by: serverDeadline)
      _ = try await one.changes(after: from, waiting: .milliseconds(1))
    }
  }

  @Test func `change numbers that are used up or negative do not crash a node`() async throws {
    try await withTwo { place, one, other in
      let operating = try place.connect()
      let from = try await one.endOfChanges()
      for number in [Int64.max, -1] {
        try operating.run("UPDATE cluster SET changes = \(number)", by: serverDeadline)
        await #expect(throws: StoreError.self) { try await other.add("REF31") }
        _ = try? await one.changes(after: from, waiting: .milliseconds(1))
      }
      try operating.run("UPDATE cluster SET changes = 7, live_codes = \(Int64.max)", by: serverDeadline)
      try await other.add("REF31")
    }
  }

  @Test(arguments: [
    // Almost the longest payload that PostgreSQL allows, which no store sends; then a well-formed payload of a node
    // that does not exist.
    "repeat('x', 7900) || n", "n || ' trial'",
  ])
  func `a store that is flooded with notifications stops listening and still receives changes by polling`(bell: String)
    async throws
  {
    // A server of its own, because every store on a database receives its notifications.
    try await withTwo(on: PostgreSQLServer(), floodPause: .seconds(2)) { place, one, other in
      try place.connect().run("CREATE ROLE stranger LOGIN", by: serverDeadline)
      let heard = Locked(Set<StoreChange>())
      let following = Task {
        var position = try await other.endOfChanges()
        while !Task.isCancelled {
          let page = try await other.changes(after: position, waiting: .milliseconds(250))
          heard.withLock { $0.formUnion(page.changes) }
          position = page.position
        }
      }
      defer { following.cancel() }
      let isOver = Locked(false)
      let rung = Locked(0)
      let flood = try DedicatedThread.start(named: "flood") {
        guard let stranger = try? place.connect(as: "stranger") else { return }
        let ring: SQL = """
          SELECT count(*) FROM (
            SELECT pg_notify('regent_news', \(unsafeRawSQL: bell)) FROM generate_series(1, 20000) AS n) AS bells
          """
        while !isOver.withLock({ $0 }), (try? stranger.run(ring, by: serverDeadline)) != nil {
          rung.withLock { $0 += 1 }
        }
      }
      defer {
        isOver.withLock { $0 = true }
        flood.join()
      }
      try await eventually("the flooded store to stop listening", within: 20) { other.isFlooded ? true : nil }
      // Four changes at 0.7 s intervals, so that some come just after the store has tried to listen again.
      for turn in 1...4 {
        heard.withLock { $0.removeAll() }
        try await one.add("REF\(turn)")
        try await eventually("the other store to receive the change", within: 2) {
          heard.withLock { $0.isEmpty } ? nil : true
        }
        try await pass(milliseconds: 700)
      }
      #expect(rung.withLock { $0 } > 0)
      isOver.withLock { $0 = true }
      try await eventually("the store to listen again") { other.isFlooded ? nil : true }
      heard.withLock { $0.removeAll() }
      try await one.add("LAST")
      try await eventually("the other store to receive the change") { heard.withLock { $0.isEmpty } ? nil : true }
    }
  }

  /// The server's queue for notifications holds 8 GB.
  ///
  /// Instead of filling it, a trigger raises the server's error at COMMIT.
  @Test func `a server whose notification queue is full refuses no change and no nonce`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let (operating, full) = (try place.connect(), "\(place.schema)_full")
    func type(_ words: String) throws { try operating.run("\(unsafeRawSQL: words)", by: serverDeadline) }
    try type("CREATE SCHEMA \(full)")
    defer { try? type("DROP SCHEMA \(full) CASCADE") }
    try type("CREATE TABLE \(full).bell (payload TEXT)")
    try type(
      """
      CREATE FUNCTION \(full).refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'too many notifications in the NOTIFY queue' USING ERRCODE = '54000';
      END $$
      """)
    try type(
      """
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON \(full).bell DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION \(full).refuse()
      """)
    func ring(_ body: String) throws {
      try type("CREATE OR REPLACE FUNCTION \(full).pg_notify(TEXT, TEXT) RETURNS VOID LANGUAGE sql AS $$ \(body) $$")
    }
    try ring("INSERT INTO \(full).bell VALUES ($2)")
    let changes = Locked<[Bool]>([])
    func open(_ name: String) throws -> PostgreSQLStore {
      var options = try place.options(node: name)
      options.connection.session["search_path"] = "\(place.schema), \(full), pg_catalog"
      options.onMuteness = { isMute in if name == "one" { changes.withLock { $0.append(isMute) } } }
      // Too long to poll during the test: only a store that knows it hears no notifications polls by itself.
      options.lookPause = .seconds(3600)
      return try PostgreSQLStore(options)
    }
    let (one, other) = (try open("one"), try open("other"))
    defer {
      one.close()
      other.close()
    }
    var position = try await other.endOfChanges()
    let nonces = try (1...3).map { UsedNonce(key: try named("key"), second: Int64($0), mark: 1) }
    for nonce in nonces.dropLast() { try await one.share([nonce]) }
    try await one.add("REF30")
    #expect(one.isMute)
    var (heard, used) = (Set<StoreChange>(), Set<UsedNonce>())
    try await eventually("the other store to receive the change and the nonces") {
      let page = try await other.changes(after: position, waiting: .milliseconds(250))
      position = page.position
      heard.formUnion(page.changes)
      used.formUnion(page.nonces)
      return heard == [.provisioning] && used.count == 2 ? true : nil
    }
    try await eventually("the other store to report that it hears no notifications") {
      position = try await other.changes(after: position, waiting: .milliseconds(250)).position
      return other.isDeaf ? true : nil
    }
    try ring("SELECT pg_catalog.pg_notify($1, $2)")
    try await eventually("the store to send notifications again") {
      try await one.share([nonces[2]])
      return one.isMute ? nil : true
    }
    #expect(changes.withLock { $0 } == [true, false], "each change of state is reported once")
  }

  @Test func `a store does not receive its own changes and nonces`() async throws {
    try await withTwo { place, one, other in
      let from = try await one.endOfChanges()
      try await one.add("OWN")
      try await one.share([UsedNonce(key: try named("key"), second: 1, mark: 1)])
      let page = try await one.changes(after: from, waiting: .zero)
      #expect(page.changes.isEmpty && page.nonces.isEmpty && page.isWhole)
      let heard = try await other.changes(after: from, waiting: .zero)
      #expect(heard.changes == [.provisioning] && heard.nonces.count == 1)
    }
  }

  @Test func `a store that was away longer than the change log reaches is told to read everything anew`() async throws {
    try await withTwo { place, one, other in
      let from = try await other.endOfChanges()
      for name in ["A", "B", "C"] { try await one.add(name) }
      try place.connect().run("DELETE FROM change WHERE n = (SELECT min(n) FROM change)", by: serverDeadline)
      let page = try await other.changes(after: from, waiting: .zero)
      #expect(!page.isWhole)
      let next = try await other.changes(after: page.position, waiting: .zero)
      #expect(next.isWhole && next.changes.isEmpty, "changes before the gap are not reported again")
      // The log is empty and has no newer entries.
      try place.connect().run("DELETE FROM change", by: serverDeadline)
      #expect(try await !other.changes(after: from, waiting: .zero).isWhole)
      // The counter went back, as on an old primary or a restored backup.
      try place.connect().run("UPDATE cluster SET changes = 0", by: serverDeadline)
      #expect(try await !other.changes(after: next.position, waiting: .zero).isWhole)
    }
  }

  @Test func `a change of an unknown kind, from a later release, makes a store read everything anew`() async throws {
    try await withTwo { place, one, other in
      let from = try await other.endOfChanges()
      try await one.add("A")
      try place.connect().run("UPDATE change SET what = 'code x' || chr(10) || 'household y'", by: serverDeadline)
      #expect(try await !other.changes(after: from, waiting: .zero).isWhole)
    }
  }

  @Test func `a change log longer than a page is read to its end`() async throws {
    try await withTwo { place, _, other in
      var position = try await other.endOfChanges()
      try place.connect().run(
        """
        WITH rows AS (
          INSERT INTO change (n, lane, what) SELECT n, 1, 'code c' || n FROM generate_series(
            (SELECT changes + 1 FROM cluster), (SELECT changes + 2500 FROM cluster)) AS n RETURNING n)
        UPDATE cluster SET changes = (SELECT max(n) FROM rows)
        """, by: serverDeadline)
      var found: Set<StoreChange> = []
      for _ in 0..<3 {
        let page = try await other.changes(after: position, waiting: .zero)
        #expect(page.isWhole)
        found.formUnion(page.changes)
        position = page.position
      }
      #expect(found.count == 2_500)
    }
  }

  @Test func `the node that holds the upkeep lease deletes old changes and nonces`() async throws {
    try await withTwo { place, one, other in
      try await one.add("OLD")
      try await one.share([UsedNonce(key: try named("key"), second: 1, mark: 1)])
      let operating = try place.connect()
      for table in ["change", "nonce"] {
        try operating.run(
          "UPDATE \(unsafeRawSQL: table) SET at = now() - INTERVAL '16 minutes'", by: serverDeadline)
      }
      try await one.add("NEW")
      #expect(try await one.take(.upkeep, as: named("one"), for: .seconds(30), at: start))
      func rows(_ table: String) throws -> Int64? {
        try operating.run("SELECT count(*) FROM \(unsafeRawSQL: table)", by: serverDeadline).first?.integer(0)
      }
      #expect(try rows("change") == 1 && rows("nonce") == 0)
      #expect(try await !other.take(.upkeep, as: named("other"), for: .seconds(30), at: start + .seconds(3600)))
    }
  }

  @Test func `a server that lost its unlogged tables in a crash goes on sharing nonces`() async throws {
    try await withTwo { place, one, other in
      let nonces = try (1...3).map { UsedNonce(key: try named("key"), second: Int64($0), mark: 1) }
      try await one.share([nonces[0]])
      let page = try await other.changes(after: other.endOfChanges(), waiting: .zero)
      try place.connect().run("TRUNCATE nonce, nonce_count", by: serverDeadline)
      try await one.share([nonces[1]])
      let next = try await other.changes(after: page.position, waiting: .zero)
      #expect(next.nonces == [nonces[1]])
      // The counter may also go back. Then the store reads once more from the beginning.
      try place.connect().run("UPDATE nonce SET n = 1", by: serverDeadline)
      try place.connect().run("UPDATE nonce_count SET n = 1", by: serverDeadline)
      let lost = try await other.changes(after: next.position, waiting: .zero)
      let again = try await other.changes(after: lost.position, waiting: .zero)
      #expect(again.nonces == [nonces[1]])
    }
  }

  @Test func `opening a database of an earlier release adds the missing tables and columns`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    try await store.add("BEFORE")
    store.close()
    let operating = try place.connect()
    for table in ["change", "nonce", "nonce_count", "lease", "node", "live_code_count"] {
      try operating.run("DROP TABLE \(unsafeRawSQL: table)", by: serverDeadline)
    }
    try operating.run("ALTER TABLE cluster DROP COLUMN changes", by: serverDeadline)
    try operating.run("DROP INDEX registration_device, permit_resource", by: serverDeadline)
    try operating.run("ALTER TABLE permit ADD PRIMARY KEY (authentication, resource)", by: serverDeadline)
    try operating.run("UPDATE cluster SET schema = 1", by: serverDeadline)
    let again = try PostgreSQLStore(place.options())
    defer { again.close() }
    #expect(try await again.provisioning().requestors.count == 1)
    try await again.add("AFTER")
    // A schema one version newer only adds to the tables, so this release goes on; two versions newer is refused.
    try operating.run("UPDATE cluster SET schema = schema + 1", by: serverDeadline)
    try await again.add("BESIDE")
    try operating.run("UPDATE cluster SET schema = schema + 1", by: serverDeadline)
    await #expect(throws: StoreError.self) { try await again.add("BEYOND") }
  }
}
