import CommandKit
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentCryptography
import RegentPairing
import RegentPlatform

/// The operations that `regentd` needs of a store in addition to serving from it, for both kinds of databases.
protocol OpenedStore: Store {
  /// Completes pending writes and closes the store; blocks the caller.
  func close()
  /// Fails all calls that wait for the database now. Calls that are made later wait as usual.
  func giveUp()
  /// Encrypts the data keys with another master key.
  func changeMasterKey(from old: Secret, to new: Secret) async throws
  /// Throws if the key is not the master key of this database.
  func checkMasterKey(_ key: Secret) async throws
  /// Counts the rows with an invalid signature.
  func verifyRows(step: Int) async throws(StoreError) -> Int
  /// Finds gaps in the audit log, and describes them as sentences.
  func auditProblems(step: Int) async throws(StoreError) -> [String]
}

extension SQLiteStore: OpenedStore {
  /// A database in a file has no server that could stop answering, so nothing waits.
  func giveUp() {}
}
extension PostgreSQLStore: OpenedStore {}

/// The number of rows that are verified in one transaction.
let rowsInStep = 500

/// Opens the store on a server with its master key; the first start creates the tables and the key.
///
/// Several nodes may use one database, each with its own name.
func openStore(
  on server: ConnectionSettings, _ paths: ServicePaths, as node: NodeID, holding held: HeldMasterKey,
  _ change: (inout PostgreSQLStoreOptions) -> Void
) throws -> PostgreSQLStore {
  try refuseBeginning(on: server, paths)
  for database in try MovedDatabase.marked(in: paths.stateFolders) { try database.completeLeaving(to: server) }
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

/// Throws if the server is empty although a marker file says that a database was to be moved there.
///
/// The server is asked only if there is such a file, so that normal starts are not slower.
func refuseBeginning(on server: ConnectionSettings, _ paths: ServicePaths) throws {
  let marked = try MovedDatabase.marked(in: paths.stateFolders)
  guard !marked.isEmpty, try !PostgreSQLStore.isBegun(on: server) else { return }
  for database in marked { try database.refuseBeginning(on: paths.shownDatabase) }
}

extension ServicePaths {
  /// The connection settings of a URL, with the source of the password; `nil` if the text is the path of a file.
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

  /// Whether the text is the URL of a server and not a file.
  static func isServer(_ database: String) -> Bool {
    database.hasPrefix("postgresql://") || database.hasPrefix("postgres://")
  }
}
