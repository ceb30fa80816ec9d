// PostgreSQLStoreTestSupport: stores on a real PostgreSQL server, each test with tables of its own. The server is
// PostgreSQLTestSupport's. `import Testing` stays in the test targets.

public import PairingStorePostgreSQL
public import PostgreSQL
public import PostgreSQLTestSupport
public import RegentCryptography
internal import RegentPairing
internal import TestSupport

/// Far longer than any statement takes, even on a busy machine.
public var serverDeadline: Deadline { .after(.seconds(patience)) }

/// A schema on a server for the tables of one test, and the master key of the stores that are opened there.
public struct DatabasePlace: Sendable {
  /// The schema of the tables.
  ///
  /// Its random name separates it from other tests.
  public let schema: String
  public let server: PostgreSQLServer
  public let master: Secret

  /// Creates an empty schema.
  public init(on server: PostgreSQLServer, master: Secret = Random.secret()) throws {
    self.server = server
    schema = "test_\(UInt64.random(in: 0 ... .max))"
    self.master = master
    let connection = try connect()
    try connection.run("CREATE SCHEMA \(unsafeRawSQL: schema)", by: serverDeadline)
  }

  /// Settings that connect stores and tests to the schema as the role `user`.
  public func settings(as user: String = "regent") throws -> ConnectionSettings {
    var settings = try ConnectionSettings(url: server.socketURL)
    settings.user = user
    settings.session["search_path"] = schema
    return settings
  }

  /// Opens a connection for the test itself.
  public func connect(as user: String = "regent") throws -> Connection {
    try Connection.open(settings(as: user), by: serverDeadline)
  }

  /// Options that open a store in the schema.
  public func options(as user: String = "regent", node: String = "one") throws -> PostgreSQLStoreOptions {
    var options = PostgreSQLStoreOptions(
      connection: try settings(as: user), masterKey: master, node: node, wallClock: { Instant(milliseconds: 0) })
    // Only operations that a test delays on purpose may time out, even on a busy machine.
    options.patience = .seconds(patience)
    options.statementPatience = .seconds(patience)
    return options
  }

  /// Drops the schema with its tables.
  public func remove() throws {
    try connect().run("DROP SCHEMA \(unsafeRawSQL: schema) CASCADE", by: serverDeadline)
  }
}

/// Runs `body` with `count` stores on one empty database.
public func withDatabaseStores<Value>(
  _ count: Int = 1, _ body: ([PostgreSQLStore]) async throws -> Value
) async throws -> Value {
  let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
  defer { try? place.remove() }
  let stores = try (0..<count).map { number in
    try PostgreSQLStore(place.options(node: "node-\(number)"))
  }
  defer { for store in stores { store.close() } }
  return try await body(stores)
}
