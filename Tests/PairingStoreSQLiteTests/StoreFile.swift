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

/// Fills a store so that every signed table has at least one row, using the store's public functions only.
struct FullHouse: Sendable {
  var stage: ConformanceFixture
  let authentication: AuthenticationRecord
  let registration: RegistrationID
  let session: SessionID
  let resource: ResourceID
  let calls: PublicKey
  let client: ClientID
  let account: AccountName
  let source: SourceKey

  init(_ store: any Store) async throws {
    stage = try await ConformanceFixture(store)
    account = try #require(stage.ann.account)
    // Before the session is started, because setting a password ends sessions.
    _ = try await store.setPassword(
      "$argon2id$", of: account, at: stage.local, by: .operator, audit: nil, at: stage.at(0))
    authentication = try await stage.signedIn(1)
    registration = try #require(authentication.registration)
    session = try ConformanceFixture.name("session-1")
    resource = try ConformanceFixture.name("ESPN")
    calls = try ConformanceFixture.name("calls-1")
    client = try ConformanceFixture.name("client")
    source = try #require(SourceKey(address: [10, 0, 0, 1]))
    try await fill(store)
  }

  private func fill(_ store: any Store) async throws {
    let now = stage.at(3)
    _ = try await store.record(
      Permit(resource, for: authentication.authentication, lifetime: .seconds(900), at: now),
      at: now)
    let guest = try await store.signInWithoutCode(
      stage.guest(9, at: stage.promotion, device: 9, identity: 1), at: now)
    _ = try await store.openTemporarily(guest.authentication.id, resource, at: now)
    let matched = try stage.registration(
      2, device: 2, match: NumberMatch(number: 11))
    try await stage.reserve(matched)
    try await store.add(
      KeyPair(
        publicKey: calls, requestor: stage.requestor, purpose: .calls, secret: StoredSecret([1]),
        created: now), audit: nil, at: now)
    try await store.add(
      SigningKeyRecord(
        id: try ConformanceFixture.name("signing"), privateKey: StoredSecret([7]), publicKey: "{}", created: now,
        signsFrom: now), audit: nil, at: now)
    let application = ApplicationRecord(
      id: try ConformanceFixture.name("app"), requestor: stage.requestor, name: "App", issued: now)
    try await stage.put(.application(application))
    try await store.register(
      ClientRecord(
        id: client, secret: try stage.hash(5), application: application.id,
        requestor: stage.requestor, issued: now), at: now)
    try await stage.put(
      .entitlement(
        Entitlement(
          id: try ConformanceFixture.name("rule"), provider: stage.local, scope: .account(account),
          pattern: try #require(ResourcePattern("*")), effect: .deny(message: "no"))))
    try await store.name(stage.hash(1001), "Kitchen", audit: nil, at: now)
    try await store.keepNumbers("{}", as: .day)
    _ = try await store.recordLoginFailure(of: .source(source), at: now)
    try await store.append(
      AuditEntry(at: now, actor: .viewer(stage.ann), action: "test", subject: "x"))
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
