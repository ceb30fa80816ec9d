internal import Glibc
internal import PairingStore
internal import PairingStorePostgreSQL
internal import PostgreSQL
internal import PostgreSQLTestSupport
internal import RegentCryptography
internal import RegentEncodings
internal import RegentPairing
internal import RegentPlatform
internal import TestSupport

// The database server that everything is measured with, and its counters.

/// A PostgreSQL server with `fsync`, unlike the one of the tests.
struct Ground {
  let server: PostgreSQLServer
  private let connection: Connection

  init() throws {
    // Without autovacuum and checkpoints: they come at random times, so that one measurement would contain them and
    // another would not.
    server = try PostgreSQLServer([
      "fsync = on", "shared_buffers = 512MB", "max_wal_size = 8GB", "checkpoint_timeout = 1h", "autovacuum = off",
    ])
    connection = try Connection.open(ConnectionSettings(url: server.socketURL), by: .after(.seconds(10)))
  }

  /// Makes a database with a requestor and a viewer.
  func place(_ name: String) throws -> Place {
    try connection.run("CREATE DATABASE \(unsafeRawSQL: name)", by: .after(.seconds(30)))
    let url = String(server.socketURL.dropLast("regent".count)) + name
    let place = Place(url: url, server: try server.pid, folder: server.folder)
    let store = try place.store("setup")
    try wait { try await provision(store) }
    store.close()
    return place
  }
}

/// A database of that server.
struct Place {
  let url: String
  /// The process id of the server.
  let server: Int32
  let folder: String

  static let masterKey = [UInt8](repeating: 0x5A, count: 32)

  func store(_ node: String) throws -> PostgreSQLStore {
    let options = PostgreSQLStoreOptions(
      connection: try ConnectionSettings(url: url), masterKey: Secret(copying: Self.masterKey), node: node,
      wallClock: { Instant(milliseconds: Clocks.wallMilliseconds()) })
    return try PostgreSQLStore(options)
  }

  func counter() throws -> Counter { try Counter(self) }
}

/// Reads from a database's own tables how much it was used.
struct Counter {
  private let connection: Connection

  init(_ place: Place) throws {
    connection = try Connection.open(ConnectionSettings(url: place.url), by: .after(.seconds(10)))
  }

  /// Write transactions, and batches of nonces.
  func now() throws -> (writes: Int64, told: Int64) {
    let row = try connection.run(
      "SELECT CAST(coalesce(sum(n), 0) AS BIGINT), (SELECT coalesce(max(n), 0) FROM nonce_count) FROM lane",
      by: .after(.seconds(10)))[0]
    return (try row.integer(0), try row.integer(1))
  }

  /// The bytes of a table with its indexes.
  func size(of table: String) throws -> Double {
    let rows = try connection.run(
      "SELECT CAST(pg_total_relation_size(CAST(CAST(\(table) AS TEXT) AS REGCLASS)) AS BIGINT)",
      by: .after(.seconds(10)))
    return Double(try rows[0].integer(0))
  }
}

/// Names and secrets of the sample data.
enum Sample {
  static let requestor = "SCALE"
  static let publicKey = "scaleKey"
  static let secret = "0123456789012345678901234567890123456789"
  static let rowKey = "scaleRows"
  static let provider = "local"
  static let account = "viewer"
}

func name<Kind>(_ text: String) throws -> Identifier<Kind> {
  guard let name = Identifier<Kind>(text) else { throw TestSupportError("no name: \(text)") }
  return name
}

func provision(_ store: some Store) async throws {
  let now = Instant(milliseconds: Clocks.wallMilliseconds())
  let requestor: RequestorID = try name(Sample.requestor)
  let provider: ProviderID = try name(Sample.provider)
  for record: Provision in [
    .requestor(Requestor(id: requestor, name: "Scale")),
    .provider(Provider(id: provider, name: "Local", kind: .local)),
    .integration(Integration(requestor: requestor, provider: provider)),
    .account(Account(provider: provider, name: try name(Sample.account))),
  ] {
    _ = try await store.put(record, replacing: nil, audit: nil, at: now)
  }
  for (key, purpose, secret) in [
    (Sample.publicKey, KeyPair.Purpose.calls, Array(Sample.secret.utf8)), (Sample.rowKey, .rows, Random.bytes(32)),
  ] {
    try await store.add(
      KeyPair(
        publicKey: try name(key), requestor: requestor, purpose: purpose, secret: StoredSecret(secret), created: now),
      audit: nil, at: now)
  }
}

// MARK: - The kernel's counters

/// Seconds of processor time of all threads of a process; nil if it does not exist.
func processor(of pid: Int32) -> Double? {
  var clock = clockid_t()
  guard unsafe clock_getcpuclockid(pid, &clock) == 0 else { return nil }
  var time = timespec()
  guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Seconds of processor time of each process of a database server.
func serverProcessors(_ pid: Int32) -> [Int32: Double] {
  let text = (try? readFile("/proc/\(pid)/task/\(pid)/children")) ?? []
  let children = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
  var used: [Int32: Double] = [:]
  for one in [pid] + children { used[one] = processor(of: one) }
  return used
}

/// The seconds between two readings; a process that started in between counts from its start.
func used(_ before: [Int32: Double], _ after: [Int32: Double]) -> Double {
  after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }
}

/// The private memory of a process in KiB.
func anonymousKiB(_ pid: Int32) throws -> Double {
  let status = String(decoding: try readFile("/proc/\(pid)/status"), as: UTF8.self)
  for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
    let words = line.split { $0 == " " || $0 == "\t" }
    if words.count > 1, let value = Double(words[1]) { return value }
  }
  throw TestSupportError("no RssAnon in status")
}

func seconds() -> Double { Double(Clocks.monotonicNanoseconds()) / 1e9 }

func note(_ sentence: String) {
  let bytes = Array((sentence + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
}

func ownProgram() throws -> String {
  var buffer = [CChar](repeating: 0, count: 4096)
  let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
  guard count > 0 else { throw TestSupportError("no /proc/self/exe") }
  return String(decoding: buffer[..<count].map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
}
