import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentSQL
import Testing

@Suite struct `Hints for a PostgreSQL role without the needed rights` {
  @Test func `a role that lacks a right is told which GRANT is missing and which role must run it`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let owner = try place.connect()
    let role = place.schema
    func type(_ words: String) throws { try owner.run("\(unsafeRawSQL: words)", by: serverDeadline) }
    try type("CREATE ROLE \(role) LOGIN")
    defer {
      try? type("DROP OWNED BY \(role)")
      try? type("DROP ROLE \(role)")
    }
    func expect(_ hint: String) throws {
      let refused = #expect(throws: PostgreSQLError.self) { try PostgreSQLStore(place.options(as: role)).close() }
      #expect(refused?.hint?.contains(hint) == true, "\(refused.map { "\($0), \($0.hint ?? "no hint")" } ?? "")")
    }
    let rows = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(role) TO \(role)"
    // Without USAGE on the schema, which is empty; then with USAGE.
    try expect("make the tables: GRANT USAGE, CREATE ON SCHEMA \(role) TO \(role)")
    try type("GRANT USAGE ON SCHEMA \(role) TO \(role)")
    try expect("make the tables: GRANT USAGE, CREATE ON SCHEMA \(role) TO \(role)")
    // With tables in the schema. Copying gives the same hint as opening.
    try PostgreSQLStore(place.options()).close()
    try expect("as regent, who owns the tables: GRANT USAGE ON SCHEMA \(role) TO \(role); \(rows)")
    let copied = #expect(throws: PostgreSQLError.self) {
      try ServerSnapshot(of: place.settings(as: role), masterKey: place.master).close()
    }
    #expect(copied?.hint?.contains(rows) == true, "\(copied?.hint ?? "")")
    try type(rows)
    try type("REVOKE USAGE ON SCHEMA \(role) FROM \(role)")
    try expect("as regent, who owns the tables: GRANT USAGE ON SCHEMA \(role) TO \(role)")
    try type("GRANT USAGE ON SCHEMA \(role) TO \(role)")
    // A right that is revoked while the store runs: the error must name the grant, because the log shows nothing
    // else.
    let store = try PostgreSQLStore(place.options(as: role))
    defer { store.close() }
    try type("REVOKE INSERT ON ALL TABLES IN SCHEMA \(role) FROM \(role)")
    let error = await #expect(throws: StoreError.self) { try await store.tryWriting() }
    #expect(
      error?.description.contains("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES") == true, "\(error as Any)")
    try type(rows)
    // An older schema, which this release would extend; only the owner of the tables may do that.
    try type("UPDATE cluster SET schema = 1")
    try expect("start it once as regent, who owns them, then \(rows)")
  }

  @Test func `a role that may not connect to the database is told to GRANT CONNECT`() throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let owner = try place.connect()
    let (role, database) = (place.schema, "\(place.schema)_own")
    try owner.run("CREATE ROLE \(unsafeRawSQL: role) LOGIN", by: serverDeadline)
    try owner.run("CREATE DATABASE \(unsafeRawSQL: database)", by: serverDeadline)
    defer {
      _ = try? owner.run("DROP DATABASE \(unsafeRawSQL: database)", by: serverDeadline)
      _ = try? owner.run("DROP ROLE \(unsafeRawSQL: role)", by: serverDeadline)
    }
    try owner.run("REVOKE CONNECT ON DATABASE \(unsafeRawSQL: database) FROM PUBLIC", by: serverDeadline)
    var settings = try place.settings(as: role)
    settings.database = database
    let refused = #expect(throws: PostgreSQLError.self) { try Connection.open(settings, by: serverDeadline).close() }
    #expect(refused?.hint?.contains("GRANT CONNECT ON DATABASE") == true, "\(refused as Any)")
  }
}
