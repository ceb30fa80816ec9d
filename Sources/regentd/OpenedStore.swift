import CommandKit
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentCryptography
import RegentPairing
import RegentPlatform

/// What the program does with a store besides serving from it, whatever the database is.
protocol OpenedStore: Store {
  /// Finishes what waits; blocks the caller.
  func close()
  /// Tells whoever waits for the database that there is no answer; what comes later waits as ever.
  func giveUp()
  /// Seals the data keys with another master key.
  func changeMasterKey(from old: Secret, to new: Secret) async throws
  /// Sees whether a master key is the one of the database.
  func checkMasterKey(_ key: Secret) async throws
  /// How many rows do not verify.
  func verifyRows(step: Int) async throws(StoreError) -> Int
  /// What is missing from the audit log, in words.
  func auditProblems(step: Int) async throws(StoreError) -> [String]
}

extension SQLiteStore: OpenedStore {
  /// Its disk answers, or nothing does.
  func giveUp() {}
}
extension PostgreSQLStore: OpenedStore {}

/// How many rows are looked at in one go.
let rowsInStep = 500

/// Opens the store on a server with its master key; the first start makes tables and key.
///
/// Several services may use it, each under a name of its own.
func openStore(
  on server: ConnectionSettings, _ paths: ServicePaths, as node: NodeID, holding held: HeldMasterKey,
  _ change: (inout PostgreSQLStoreOptions) -> Void
) throws -> PostgreSQLStore {
  try refuseBeginning(on: server, paths)
  return try MasterKeyFile(paths).open(isSealed: { try PostgreSQLStore.isMade(on: server) }) { key in
    var options = PostgreSQLStoreOptions(
      connection: server, masterKey: key, node: node.text,
      wallClock: { Instant(milliseconds: Clocks.wallMilliseconds()) })
    options.version = regentVersion
    change(&options)
    let store = try PostgreSQLStore(options)
    held.hold(key)
    return store
  }
}

/// Refuses to begin anew on a server while a file says that its database was to go there.
///
/// The server is asked only when there is such a file: no start takes longer for it.
func refuseBeginning(on server: ConnectionSettings, _ paths: ServicePaths) throws {
  let marked = try MovedDatabase.marked(in: paths.stateFolders)
  guard !marked.isEmpty, try !PostgreSQLStore.isBegun(on: server) else { return }
  for database in marked { try database.refuseBeginning(on: paths.shownDatabase) }
}

extension ServicePaths {
  /// The server that a URL names, with the place of its password; `nil` when it is a file.
  static func server(_ database: String?, _ call: Invocation) throws -> ConnectionSettings? {
    let passwordFile = call[ServeCommand.databasePasswordFile]
    guard let database, isServer(database) else {
      guard passwordFile == nil else {
        throw CommandError.usage(
          "--database-password-file works only with a database on a server",
          hint: "add --database postgresql://…, or remove the option")
      }
      return nil
    }
    do throws(PostgreSQLError) {
      var settings = try ConnectionSettings(url: database)
      let environment = call.environment
      settings.password = try PasswordSource.find(
        file: passwordFile,
        environment: ["PGPASSWORD", "PGOPTIONS", "PGSERVICE", "CREDENTIALS_DIRECTORY"]
          .reduce(into: [:]) { $0[$1] = environment[$1] },
        home: environment["HOME"])
      return settings
    } catch {
      throw CommandError("--database: \(error.message)", hint: error.hint)
    }
  }

  /// Whether a database is on a server and not in a file.
  static func isServer(_ database: String) -> Bool {
    database.hasPrefix("postgresql://") || database.hasPrefix("postgres://")
  }
}
