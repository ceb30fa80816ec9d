import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentCryptography
import RegentPairing
import TestSupport
import Testing

private func named<Kind>(_ text: String) throws -> Identifier<Kind> { try #require(Identifier<Kind>(text)) }

private let start = Instant(milliseconds: 1_000)

extension PostgreSQLStore {
  /// Stores a requestor with this id.
  fileprivate func provision(_ id: String = "REF30") async throws {
    _ = try await put(
      .requestor(Requestor(id: named(id), name: id)), replacing: nil, audit: nil, at: start)
  }

  fileprivate var requestors: [String] {
    get async throws { try await provisioning().requestors.keys.map(\.text).sorted() }
  }
}

@Suite("The PostgreSQL store", .serialized)
struct PairingStorePostgreSQLTests {
  @Test func `when several services start on an empty database, one creates the tables and keys and all use them`()
    async throws
  {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let stores = try await withThrowingTaskGroup(of: PostgreSQLStore.self) { group in
      for number in 1...4 { group.addTask { try PostgreSQLStore(place.options(node: "node-\(number)")) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    defer { for store in stores { store.close() } }
    var material: Set<StoredSecret> = []
    for store in stores { material.insert(try await store.keyMaterial(for: KeyPurpose.allCases[0])) }
    #expect(material.count == 1, "all have the same keys")
    try await stores[0].provision()
    #expect(try await stores[3].requestors == ["REF30"])
  }

  @Test func `a database opens with its own master key only`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    try await store.provision()
    store.close()
    var wrong = try place.options()
    wrong.masterKey = Random.secret()
    #expect(throws: StoreKeyFailure.self) { try PostgreSQLStore(wrong).close() }
    let again = try PostgreSQLStore(place.options())
    defer { again.close() }
    #expect(try await again.requestors == ["REF30"])
  }

  @Test func `a role that may only read and write suffices once the tables exist`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let owner = try place.connect()
    let role = place.schema
    try owner.run("CREATE ROLE \(unsafeRawSQL: role) LOGIN", by: serverDeadline)
    try owner.run("GRANT USAGE ON SCHEMA \(unsafeRawSQL: role) TO \(unsafeRawSQL: role)", by: serverDeadline)
    defer {
      _ = try? owner.run("DROP OWNED BY \(unsafeRawSQL: role)", by: serverDeadline)
      _ = try? owner.run("DROP ROLE \(unsafeRawSQL: role)", by: serverDeadline)
    }
    // Before the tables exist, opening fails and the hint names the missing grant.
    let refused = #expect(throws: PostgreSQLError.self) { try PostgreSQLStore(place.options(as: role)).close() }
    #expect(refused?.state == .noRight)
    #expect(
      refused?.hint?.contains("GRANT USAGE, CREATE ON SCHEMA \(role) TO \(role)") == true, "\(refused?.hint ?? "")")
    try PostgreSQLStore(place.options()).close()
    try owner.run(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(unsafeRawSQL: role) TO \(unsafeRawSQL: role)",
      by: serverDeadline)
    let store = try PostgreSQLStore(place.options(as: role))
    defer { store.close() }
    try await store.provision()
    try await store.tryWriting()
    _ = try await store.forgetExpired(at: start, limit: 10)
    #expect(try await store.requestors == ["REF30"])
    #expect(throws: PostgreSQLError.self) {
      try place.connect(as: role).run("CREATE TABLE stranger (id BIGINT)", by: serverDeadline)
    }
  }

  @Test func `a trigger that an attacker planted in the tables keeps the store from opening`() throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    try PostgreSQLStore(place.options()).close()
    let stranger = try place.connect()
    try stranger.run(
      "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", by: serverDeadline)
    try stranger.run(
      "CREATE TRIGGER swallowing BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION swallow()", by: serverDeadline)
    let error = #expect(throws: SchemaFailure.self) { try PostgreSQLStore(place.options()).close() }
    #expect(error?.description.contains("trigger “swallowing” on the table “session”") == true)
    try stranger.run("DROP TRIGGER swallowing ON session", by: serverDeadline)
    try stranger.run("UPDATE cluster SET schema = 99", by: serverDeadline)
    #expect(throws: SchemaFailure.otherVersion(found: 99)) { try PostgreSQLStore(place.options()).close() }
  }

  @Test func `a row that was changed outside the store is ignored and audited`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    try await store.provision("GOOD")
    try await store.provision("BAD")
    try place.connect().run("UPDATE requestor SET name = 'other' WHERE id = 'BAD'", by: serverDeadline)
    #expect(try await store.requestors == ["GOOD"])
    #expect(try await store.verifyRows(step: 1) == 1)
    let lines = try await store.audit(after: 0, limit: 10)
    #expect(lines.map(\.entry.subject) == ["requestor/BAD"])
  }

  @Test func `a connection that the server ended is replaced without a failed request`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    try await store.provision("ONE")
    let operating = try place.connect()
    for round in 2...4 {
      try operating.run(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND query LIKE \("%\(place.schema)%")
        OR pid IN (SELECT pid FROM pg_locks WHERE relation = to_regclass('lane'))
        """, by: serverDeadline)
      try await store.provision("ROUND\(round)")
      #expect(try await store.requestors.count == round)
    }
    #expect(store.awayFor == nil)
  }
}
