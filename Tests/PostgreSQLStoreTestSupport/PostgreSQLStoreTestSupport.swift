// PostgreSQLStoreTestSupport: stores on a real PostgreSQL server, each test with tables of its own. The server is
// PostgreSQLTestSupport's. `import Testing` stays in the test targets.

public import PairingStorePostgreSQL
public import PostgreSQL
public import PostgreSQLTestSupport
public import RegentCryptography
internal import RegentPairing
internal import TestSupport

/// Far more than anything takes on a busy machine.
public var serverDeadline: Deadline { .after(.seconds(patience)) }

/// A place for tables on a server, and the master key of the stores that are opened there.
public struct DatabasePlace: Sendable {
  /// The tables' schema, which is no other test's.
  public let schema: String
  public let server: PostgreSQLServer
  public let master: Secret

  /// An empty place.
  public init(on server: PostgreSQLServer) throws {
    self.server = server
    schema = "test_\(UInt64.random(in: 0 ... .max))"
    master = Random.secret()
    let connection = try connect()
    try connection.run("CREATE SCHEMA \(unsafeRawSQL: schema)", by: serverDeadline)
  }

  /// How stores and tests reach it, in a role.
  public func settings(as user: String = "regent") throws -> ConnectionSettings {
    var settings = try ConnectionSettings(url: server.socketURL)
    settings.user = user
    settings.session["search_path"] = schema
    return settings
  }

  /// A connection beside the stores'.
  public func connect(as user: String = "regent") throws -> Connection {
    try Connection.open(settings(as: user), by: serverDeadline)
  }

  /// How a store is opened on it.
  public func options(as user: String = "regent", node: String = "one") throws -> PostgreSQLStoreOptions {
    var options = PostgreSQLStoreOptions(
      connection: try settings(as: user), masterKey: master, node: node, wallClock: { Instant(milliseconds: 0) })
    // On a busy machine nothing may fail for want of time but what a test makes slow.
    options.patience = .seconds(patience)
    options.statementPatience = .seconds(patience)
    return options
  }

  /// Drops the tables.
  public func remove() throws {
    try connect().run("DROP SCHEMA \(unsafeRawSQL: schema) CASCADE", by: serverDeadline)
  }
}

/// Lends stores on one empty database.
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
