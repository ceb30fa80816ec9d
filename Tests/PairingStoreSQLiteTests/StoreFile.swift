import RegentCryptography
import RegentPairing
import PairingStore
@testable import StoreConformance
@testable import PairingStoreSQLite
import SQLite
import StorageFaults
import TestSupport
import Testing

/// The database file of one test, with its master key.
struct StoreFile: Sendable {
  let path: String
  var master = Random.secret()
  // Writes real files, but does not wait for the hardware (fsync).
  var fileLayer = FaultyDisk().name

  func open() throws -> SQLiteStore {
    var options = SQLiteStoreOptions(
      path: path, masterKey: master, wallClock: { Instant(milliseconds: 42) })
    options.fileLayer = fileLayer
    return try SQLiteStore(options)
  }

  func with<Value>(_ body: (SQLiteStore) async throws -> Value) async throws -> Value {
    let store = try open()
    defer { store.close() }
    return try await body(store)
  }

  /// Changes the file with SQL while the service is stopped, as an attacker would.
  @discardableResult
  func behindTheBack<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) throws -> Value {
    let database = try Database(
      DatabaseOptions(
        path: path, applicationID: Schema.applicationID,
        migrations: Schema.migrations(MigrationKeys(try DataKeys.masterKey(master)))))
    defer { database.close() }
    return try database.writeBlocking(body)
  }

  /// Changes the file from another program, with the SQLite features enabled that Regent disables.
  func changeFromOutside(_ statements: String) throws {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()"
    let done = try run("python3", ["-c", script, path, statements])
    guard done.status == 0 else { throw TestSupportError("python3 said: \(done.errorText)") }
  }

  func copy(to path: String) throws -> StoreFile {
    try writeFile(path, readFile(self.path))
    return StoreFile(path: path, master: master, fileLayer: fileLayer)
  }
}

func withStoreFile<Value>(_ body: (StoreFile) async throws -> Value) async throws -> Value {
  try await withTemporaryFolder { folder in
    try await body(StoreFile(path: "\(folder)/regent.db"))
  }
}

/// Everything that can be read from a store through its public functions.
struct Picture: Equatable {
  let provisioning: Provisioning
  let accounts: [Account]
  let passwords: [String?]
  let registrations: [RegistrationRecord]
  let authentications: [AuthenticationRecord]
  let sessions: [SessionRecord]
  let names: [ScreenHash: String]
  let keys: [SigningKeyRecord]
  let audit: [NumberedAuditEntry]
  let material: [StoredSecret]

  init(of store: any Store) async throws {
    let start = Instant(milliseconds: 0)
    provisioning = try await store.provisioning()
    var accounts: [Account] = []
    for id in provisioning.providers.keys.sorted() {
      accounts += try await store.accounts(id, after: nil, limit: 1000)
    }
    var passwords: [String?] = []
    var sessions: [SessionRecord] = []
    for one in accounts {
      passwords.append(try await store.password(of: one.name, at: one.provider))
      sessions += try await store.sessions(
        of: Viewer(provider: one.provider, account: one.name), at: start)
    }
    (self.accounts, self.passwords, self.sessions) = (accounts, passwords, sessions)
    registrations = try await store.registrations(after: nil, limit: 1000, at: start)
    authentications = try await store.authentications(
      AuthenticationFilter(), after: nil, limit: 1000, at: start)
    names = try await store.names(
      of: Set(authentications.compactMap { ScreenHash($0.deviceHash.bytes) }))
    keys = try await store.signingKeys()
    audit = try await store.audit(after: 0, limit: 1000)
    var material: [StoredSecret] = []
    for purpose in KeyPurpose.allCases {
      material.append(try await store.keyMaterial(for: purpose))
    }
    self.material = material
  }
}
