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

/// Two stores on one database: what one writes, and what the other hears of it.
@Suite("What nodes on one PostgreSQL database hear of each other", .serialized)
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
      // Whoever has a bell is woken by nothing else.
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
  func `a wait for news ends when there are some, by the bell or without it`(wakeups: Wakeups) async throws {
    try await withTwo(wakeups) { place, one, other in
      let operating = try place.connect()
      let began = try operating.run("SELECT CAST(clock_timestamp() AS TEXT)", by: serverDeadline)[0].text(0)
      // It has looked, found nothing, and waits now.
      func hasLooked() throws -> Bool? {
        let rows = try operating.run(
          """
          SELECT 1 FROM pg_stat_activity WHERE application_name = 'regent other' AND state = 'idle'
          AND query LIKE '%nonce_count%' AND query_start > CAST(CAST(\(began) AS TEXT) AS TIMESTAMPTZ)
          """, by: serverDeadline)
        return rows.isEmpty ? nil : true
      }
      let from = try await other.endOfChanges()
      // Its own end is far away: whoever comes back earlier was woken, or has looked.
      let woken = Locked(false)
      let waiting = Task {
        let page = try await other.changes(after: from, waiting: .seconds(3_600))
        woken.withLock { $0 = true }
        return page
      }
      try await eventually("the other one to wait", hasLooked)
      try await one.add("REF30")
      try await eventually("the other one to be woken") { woken.withLock { $0 } }
      let page = try await waiting.value
      #expect(page.changes == [.provisioning] && page.isWhole)
      let nonce = UsedNonce(key: try named("key"), second: 7, mark: 9)
      let more = Task { try await other.changes(after: page.position, waiting: .seconds(3_600)) }
      try await one.share([nonce])
      #expect(try await more.value.nonces == [nonce])
    }
  }

  @Test func `of a database that was moved away there are no news, and nothing of it is believed`() async throws {
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

  @Test func `numbers that have come to their end, or are none, end no node`() async throws {
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
    // Nobody's bell, as long as a bell can be; and one that a node could ring, of one that there is not.
    "repeat('x', 7900) || n", "n || ' trial'",
  ])
  func `a flood of bells is not listened to, and news are heard without them`(bell: String) async throws {
    // Its own server: everybody on a database hears its bells.
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
      try await eventually("the store to stop listening", within: 20) { other.isFlooded ? true : nil }
      // Also right after it has tried to listen again.
      for turn in 1...4 {
        heard.withLock { $0.removeAll() }
        try await one.add("REF\(turn)")
        try await eventually("the other one to hear", within: 2) { heard.withLock { $0.isEmpty } ? nil : true }
        try await pass(milliseconds: 700)
      }
      #expect(rung.withLock { $0 } > 0)
      isOver.withLock { $0 = true }
      try await eventually("the store to listen again") { other.isFlooded ? nil : true }
      heard.withLock { $0.removeAll() }
      try await one.add("LAST")
      try await eventually("the other one to hear") { heard.withLock { $0.isEmpty } ? nil : true }
    }
  }

  /// The server's queue for bells takes 8 GB, so a full one is played where the server tells of it: at the COMMIT.
  @Test func `a server that has no room for a bell refuses no change and no nonce`() async throws {
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
      // Whoever hears no bell looks by itself.
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
    try await eventually("the other one to find it") {
      let page = try await other.changes(after: position, waiting: .milliseconds(250))
      position = page.position
      heard.formUnion(page.changes)
      used.formUnion(page.nonces)
      return heard == [.provisioning] && used.count == 2 ? true : nil
    }
    try await eventually("the other one to say that it hears no bell") {
      position = try await other.changes(after: position, waiting: .milliseconds(250)).position
      return other.isDeaf ? true : nil
    }
    try ring("SELECT pg_catalog.pg_notify($1, $2)")
    try await eventually("it to ring again") {
      try await one.share([nonces[2]])
      return one.isMute ? nil : true
    }
    #expect(changes.withLock { $0 } == [true, false], "told once each")
  }

  @Test func `what a store wrote itself it is not told, unless nobody was told what came of it`() async throws {
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

  @Test func `whoever slept longer than the log is told to look at everything`() async throws {
    try await withTwo { place, one, other in
      let from = try await other.endOfChanges()
      for name in ["A", "B", "C"] { try await one.add(name) }
      try place.connect().run("DELETE FROM change WHERE n = (SELECT min(n) FROM change)", by: serverDeadline)
      let page = try await other.changes(after: from, waiting: .zero)
      #expect(!page.isWhole)
      let next = try await other.changes(after: page.position, waiting: .zero)
      #expect(next.isWhole && next.changes.isEmpty, "what was looked at is not told again")
      // All of it is gone, and nothing new came.
      try place.connect().run("DELETE FROM change", by: serverDeadline)
      #expect(try await !other.changes(after: from, waiting: .zero).isWhole)
      // Its numbers went back: an old primary, or a backup.
      try place.connect().run("UPDATE cluster SET changes = 0", by: serverDeadline)
      #expect(try await !other.changes(after: next.position, waiting: .zero).isWhole)
    }
  }

  @Test func `words of a later release mean that everything is looked at`() async throws {
    try await withTwo { place, one, other in
      let from = try await other.endOfChanges()
      try await one.add("A")
      try place.connect().run("UPDATE change SET what = 'code x' || chr(10) || 'household y'", by: serverDeadline)
      #expect(try await !other.changes(after: from, waiting: .zero).isWhole)
    }
  }

  @Test func `a log that is longer than a page is read to its end`() async throws {
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

  @Test func `the holder of the duty forgets what nobody reads any more`() async throws {
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

  @Test func `a server that lost what is not logged goes on`() async throws {
    try await withTwo { place, one, other in
      let nonces = try (1...3).map { UsedNonce(key: try named("key"), second: Int64($0), mark: 1) }
      try await one.share([nonces[0]])
      let page = try await other.changes(after: other.endOfChanges(), waiting: .zero)
      try place.connect().run("TRUNCATE nonce, nonce_count", by: serverDeadline)
      try await one.share([nonces[1]])
      let next = try await other.changes(after: page.position, waiting: .zero)
      #expect(next.nonces == [nonces[1]])
      // Also when its clock went back: then it is asked once more, from the beginning.
      try place.connect().run("UPDATE nonce_count SET n = 1", by: serverDeadline)
      let lost = try await other.changes(after: next.position, waiting: .zero)
      let again = try await other.changes(after: lost.position, waiting: .zero)
      #expect(again.nonces == [nonces[1]])
    }
  }

  @Test func `an earlier release's tables get what is new`() async throws {
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
    // The release after this one has added to the tables: this one goes on.
    try operating.run("UPDATE cluster SET schema = schema + 1", by: serverDeadline)
    try await again.add("BESIDE")
    try operating.run("UPDATE cluster SET schema = schema + 1", by: serverDeadline)
    await #expect(throws: StoreError.self) { try await again.add("BEYOND") }
  }
}
