import Glibc
import PairingStore
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

@testable import PairingStorePostgreSQL

@Suite struct `What the store reports about the PostgreSQL server` {
  @Test func `a clock difference is measured against the whole interval of the request, however long it took`() {
    func ahead(_ there: Int64, _ asked: Int64, _ answered: Int64) -> Duration {
      clockAhead(
        of: Instant(milliseconds: there), asked: Instant(milliseconds: asked), answered: Instant(milliseconds: answered)
      )
    }
    #expect(ahead(5_000, 4_000, 9_000) == .zero && ahead(9_000, 4_000, 9_000) == .zero)
    #expect(ahead(1_000, 4_000, 9_000) == .seconds(3))
    #expect(ahead(11_000, 4_000, 9_000) == .seconds(-2))
  }

  @Test func `functions of another role in the schema are not run, and the right to create them is reported`()
    async throws
  {
    let place = try DatabasePlace(on: PostgreSQLServer())
    let operating = try place.connect()
    let schema: SQL = "\(unsafeRawSQL: place.schema)"
    try operating.run("CREATE ROLE stranger LOGIN", by: serverDeadline)
    try operating.run("GRANT USAGE, CREATE ON SCHEMA \(part: schema) TO PUBLIC", by: serverDeadline)
    let stranger = try place.connect(as: "stranger")
    // For a value of the type `name`, these fit better than the server's own functions, which take text.
    for (function, result): (SQL, SQL) in [("hashtext", "INTEGER"), ("quote_ident", "TEXT")] {
      try stranger.run(
        """
        CREATE FUNCTION \(part: schema).\(part: function)(NAME) RETURNS \(part: result) LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''a function of a stranger was run''; END'
        """, by: serverDeadline)
    }
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    let statement = try #require(try await store.server().schemaRevocation)
    #expect(statement == "REVOKE CREATE ON SCHEMA \(place.schema) FROM PUBLIC")
    try operating.run("\(unsafeRawSQL: statement)", by: serverDeadline)
    #expect(try await store.server().schemaRevocation == nil)
  }

  @Test func `the store reports that every role may connect, and the statements that end this`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer())
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    let statements = try #require(try await store.server().revocation)
    #expect(
      statements
        == "GRANT CONNECT ON DATABASE regent TO regent; REVOKE CONNECT ON DATABASE regent FROM PUBLIC")
    let operating = try place.connect()
    try operating.run("CREATE ROLE stranger LOGIN", by: serverDeadline)
    #expect(throws: Never.self) { try place.connect(as: "stranger").close() }
    for statement in statements.split(separator: "; ") {
      try operating.run("\(unsafeRawSQL: String(statement))", by: serverDeadline)
    }
    #expect(try await store.server().revocation == nil)
    #expect(throws: PostgreSQLError.self) { try place.connect(as: "stranger").close() }
  }

  @Test func `the store lists the standbys of its server, with details only if its role may read them`() async throws {
    let server = try PostgreSQLServer()
    let place = try DatabasePlace(on: server)
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    #expect(try await store.server().standbys == [])
    let operating = try place.connect()
    func set(_ setting: SQL) throws {
      try operating.run("ALTER SYSTEM SET \(part: setting)", by: serverDeadline)
      try operating.run("SELECT pg_reload_conf()", by: serverDeadline)
    }
    let append = "'cat >> \(server.folder)/data/pg_hba.conf'"
    try operating.run(
      "COPY (SELECT 'local replication all trust') TO PROGRAM \(unsafeRawSQL: append)", by: serverDeadline)
    try operating.run("SELECT pg_reload_conf()", by: serverDeadline)
    try await withTemporaryFolder { folder in
      // Receives the write-ahead log like a standby.
      let follower = try RunningProgram(
        "pg_receivewal",
        [
          "-D", folder, "--synchronous", "-d",
          "host=\(server.folder) port=\(server.port) user=regent application_name=db-2",
        ], standardOutput: "\(folder)/out", standardError: "\(folder)/err")
      defer { follower.signal(SIGKILL) }
      func sees(_ what: String, _ store: PostgreSQLStore, _ standby: ServerFacts.Standby) async throws {
        try await eventually(what) { try await store.server().standbys == [standby] ? true : nil }
      }
      try await sees(
        "the standby to stream", store, ServerFacts.Standby(name: "db-2", state: "streaming", sync: "async"))
      #expect(try await !store.server().wantsSynchronousStandby)
      try set(#"synchronous_standby_names = '"db-2"'"#)
      try await sees(
        "the standby to become synchronous", store, ServerFacts.Standby(name: "db-2", state: "streaming", sync: "sync"))
      #expect(try await store.server().wantsSynchronousStandby)
      let role = place.schema
      for grant: SQL in [
        "CREATE ROLE \(unsafeRawSQL: role) LOGIN",
        "GRANT USAGE ON SCHEMA \(unsafeRawSQL: role) TO \(unsafeRawSQL: role)",
        """
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(unsafeRawSQL: role) TO \(unsafeRawSQL: role)
        """,
      ] { try operating.run(grant, by: serverDeadline) }
      let least = try PostgreSQLStore(place.options(as: role, node: "least"))
      defer { least.close() }
      try await sees("a standby without details", least, ServerFacts.Standby(name: "db-2", state: nil, sync: nil))
      try operating.run("GRANT pg_read_all_stats TO \(unsafeRawSQL: role)", by: serverDeadline)
      try await sees(
        "the standby with its details", least, ServerFacts.Standby(name: "db-2", state: "streaming", sync: "sync"))
    }
  }
}
