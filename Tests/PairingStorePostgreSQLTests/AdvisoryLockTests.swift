import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import TestSupport
import Testing

/// A role that may connect but has no rights on tables, and the database whose advisory locks it takes.
private struct Stranger {
  let place: DatabasePlace
  let operating: Connection
  let role: String
  static let use = 1_380_404_785
  static let tables = 1_380_404_820

  init() throws {
    place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    operating = try place.connect()
    role = "stranger_to_\(place.schema)"
    try operating.run("CREATE ROLE \(unsafeRawSQL: role) LOGIN", by: serverDeadline)
  }

  /// Takes one of the advisory locks as the role `user`.
  func take(_ lock: Int, as user: String) throws -> (Connection, process: Int64) {
    let connection = try Connection.open(settings(user), by: serverDeadline)
    let question: SQL = "SELECT CAST(pg_backend_pid() AS BIGINT), pg_try_advisory_lock(\(part: key(lock)))"
    return (connection, try connection.run(question, by: serverDeadline)[0].integer(0))
  }

  /// Queues for one of the advisory locks exclusively, while the store holds it in shared mode.
  func wait(for lock: Int) async throws -> Task<Void, Never> {
    let connection = try Connection.open(settings(role), by: serverDeadline)
    let question: SQL = "SELECT pg_advisory_lock(\(part: key(lock)))"
    let waiting = Task.detached { _ = try? connection.run(question, by: serverDeadline) }
    try await eventually("the stranger to wait") {
      let rows = try operating.run(
        """
        SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE a.usename = \(role) AND l.locktype = 'advisory' AND NOT l.granted
        """, by: serverDeadline)
      return rows.isEmpty ? nil : true
    }
    return waiting
  }

  func end() throws {
    try operating.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = \(role)", by: serverDeadline)
  }

  private func key(_ lock: Int) -> SQL { "\(unsafeRawSQL: String(lock)), hashtext(\(place.schema))" }

  private func settings(_ user: String) throws -> ConnectionSettings {
    var settings = try place.settings(as: user)
    // The role may not see the schema, so its search path must not name it.
    settings.session["search_path"] = "public"
    return settings
  }
}

@Suite struct `Advisory locks taken by other roles` {
  @Test func `a role without rights that holds the locks blocks no store, and is named`() async throws {
    let stranger = try Stranger()
    let place = stranger.place
    defer { try? place.remove() }
    // A stranger can take the locks before the tables exist.
    let (tables, first) = try stranger.take(Stranger.tables, as: stranger.role)
    let (use, second) = try stranger.take(Stranger.use, as: stranger.role)
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    try await store.tryWriting()
    let other = try PostgreSQLStore(place.options(node: "two"))
    defer { other.close() }
    // A store whose connections break connects again.
    try stranger.operating.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'regent two'", by: serverDeadline
    )
    try await eventually("the other store to write") { () async throws -> Bool? in
      do { try await other.tryWriting() } catch { return nil }
      return true
    }
    let facts = try await store.server()
    #expect(
      facts.strangers == [
        "the role “\(stranger.role)” (process \(second))", "the role “\(stranger.role)” (process \(first))",
      ])
    let ending = [first, second].map { "SELECT pg_terminate_backend(\($0))" }.sorted()
    #expect(facts.ending == ending.joined(separator: "; "))
    store.close()
    other.close()
    let refused = #expect(throws: PostgreSQLError.self) { try ServerFilling(place.settings()).close() }
    #expect(
      refused?.message.hasPrefix("the role “\(stranger.role)” (process \(second)), which may not write here") == true,
      "\(String(describing: refused))")
    #expect(refused?.hint?.contains("SELECT pg_terminate_backend(\(second))") == true)
    withExtendedLifetime((tables, use)) {}
    try stranger.end()
    #expect(throws: CopyFailure.self) { try ServerFilling(place.settings()).close() }
    let again = try PostgreSQLStore(place.options())
    #expect(try await again.server().ending == nil)
    again.close()
  }

  @Test func `a role without rights that waits for the locks blocks no store`() async throws {
    let stranger = try Stranger()
    let place = stranger.place
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    try await store.tryWriting()
    let waiting = try await stranger.wait(for: Stranger.use)
    let other = try PostgreSQLStore(place.options(node: "two"))
    try await other.tryWriting()
    other.close()
    try stranger.end()
    await waiting.value
  }

  @Test func `a store waits for the locks of a role that may write, and names the role`() throws {
    let stranger = try Stranger()
    let place = stranger.place
    defer { try? place.remove() }
    try PostgreSQLStore(place.options()).close()
    let (tables, process) = try stranger.take(Stranger.tables, as: "regent")
    var options = try place.options()
    options.openingPatience = .seconds(2)
    let refused = #expect(throws: PostgreSQLError.self) { try PostgreSQLStore(options).close() }
    #expect(refused?.message == "the role “regent” (process \(process)) still makes or fills the tables")
    #expect(refused?.hint?.contains("pg_stat_activity WHERE pid = \(process)") == true)
    tables.close()
    try PostgreSQLStore(place.options()).close()
  }
}
