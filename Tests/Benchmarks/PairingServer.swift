internal import Glibc
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingService
internal import PairingStore
internal import PairingStoreSQLite
internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
internal import RegentPlatform
internal import TestSupport

// The service that most rows measure: complete, on a real database, with pending codes.

/// The keys with which the benchmark's requestor signs calls.
enum BenchKeys {
  static let count = 16
  static func publicKey(_ number: Int) -> String { "benchKey\(number % count)" }
  static let secret = "0123456789012345678901234567890123456789"
  static let requestor = "BENCH"
}

/// `fill-pairing FOLDER CODES [GRANTS CLIENT SCOPE]` makes a database with CODES pending codes of the devices box-0,
/// box-1 and so on.
///
/// It also writes the master key for `regentd` and an access token of a registered client. With the last three
/// arguments it adds GRANTS grants to CLIENT.
func fillPairing(_ arguments: [String]) -> Int32 {
  guard arguments.count == 2 || arguments.count == 5, let codes = Int(arguments[1]) else {
    note("usage: Benchmarks fill-pairing FOLDER CODES [GRANTS CLIENT SCOPE]\n")
    return 2
  }
  var grants: BenchGrants?
  if arguments.count == 5, let count = Int(arguments[2]) {
    grants = BenchGrants(count: count, client: arguments[3], scope: arguments[4])
  }
  runUntilExit { [grants] in try await fill(folder: arguments[0], codes: codes, grants) }
}

/// `serve-pairing PORT FOLDER` serves the database of `fill-pairing` until it is killed, with rate limits that no load
/// generator reaches.
func servePairing(_ arguments: [String]) -> Int32 {
  guard arguments.count == 2, let port = UInt16(arguments[0]) else {
    note("usage: Benchmarks serve-pairing PORT FOLDER\n")
    return 2
  }
  runUntilExit { try await serve(port: port, folder: arguments[1]) }
}

func runUntilExit(_ work: @escaping @Sendable () async throws -> Void) -> Never {
  Task {
    do {
      try await work()
      exit(0)
    } catch {
      note("\(error)\n")
      exit(1)
    }
  }
  while true { pause() }
}

private func openStore(_ folder: String) throws -> SQLiteStore {
  let clock = ServiceClock.machine
  return try SQLiteStore(
    SQLiteStoreOptions(
      path: "\(folder)/bench.db",
      masterKey: Secret(copying: masterKey), wallClock: { clock.now }))
}

private let masterKey = [UInt8](repeating: 0x5A, count: 32)

private func serve(port: UInt16, folder: String) async throws {
  let clock = ServiceClock.machine
  let store = try openStore(folder)
  var options = ServiceOptions(publicURL: "http://127.0.0.1:\(port)")
  options.limits.liveCodes = 10_000_000
  options.limits.signInsOfAccount = 1_000_000
  options.limits.device = RateLimit(perSecond: 100_000, burst: 1_000_000)
  options.limits.newcomers = RateLimit(perSecond: 100_000, burst: 10_000_000)
  let start = clock.uptime
  let core = try await ServiceCore(options, store: store, clock: clock)
  let span = clock.uptime.milliseconds - start.milliseconds
  try writeFile("\(folder)/milliseconds-to-start", "\(span)".utf8)
  try letEachPollOnce(core)
  var configuration = ServerConfiguration()
  configuration.connections = 25_000
  // All devices of the benchmark share one address, which opens connections faster than a real one.
  configuration.unprovenConnectionsPerSource = 25_000
  // As regentd does: every reply has these headers.
  for (name, value) in SecurityHeaders(https: true).list {
    if let name = HeaderName(name) { configuration.standingHeaders.add(name, value) }
  }
  var routes = ServiceRoutes.devices(core)
  mountApproval(&routes, core)
  let router = RememberedPolls(core, before: try Router(routes, refuse: ServiceRoutes.refuse))
  let server = try Server(
    [
      Listener(.network(.loopback, port: port), handler: ForwardedHandler(trusting: TrustedProxies([]), before: router))
    ],
    configuration: configuration)
  note("listening on \(server.addresses[0])\n")
  while true { try await Task.sleep(for: .seconds(3600)) }
}

/// Records for each device that it has no earlier sign-in, which its first poll after a start would look up.
private func letEachPollOnce(_ core: ServiceCore) throws {
  let requestor: RequestorID = try name(BenchKeys.requestor)
  for number in 0..<core.codes.pending {
    core.codes.noteSignIn(
      false, of: core.hasher.device(try name("box-\(number)")), at: requestor)
  }
}

private func name<Kind>(_ text: String) throws -> Identifier<Kind> {
  guard let name = Identifier<Kind>(text) else { throw TestSupportError("no name: \(text)") }
  return name
}

private func provision(_ store: SQLiteStore, at now: Instant) async throws {
  let requestor: RequestorID = try name(BenchKeys.requestor)
  let provider: ProviderID = try name("local")
  for record: Provision in [
    .requestor(Requestor(id: requestor, name: "Bench")),
    .provider(Provider(id: provider, name: "Local", kind: .local)),
    .integration(Integration(requestor: requestor, provider: provider)),
    .account(Account(provider: provider, name: try name("viewer"))),
  ] {
    _ = try await store.put(record, replacing: nil, audit: nil, at: now)
  }
  for number in 0..<BenchKeys.count {
    try await store.add(
      KeyPair(
        publicKey: try name(BenchKeys.publicKey(number)), requestor: requestor, purpose: .calls,
        secret: StoredSecret(Array(BenchKeys.secret.utf8)), created: now), audit: nil, at: now)
  }
  try await store.add(
    KeyPair(
      publicKey: try name("benchRows"), requestor: requestor, purpose: .rows,
      secret: StoredSecret(Random.bytes(32)), created: now), audit: nil, at: now)
}

/// An access token of a newly registered client.
private func accessToken(_ core: ServiceCore) async throws -> String {
  let requestor: RequestorID = try name(BenchKeys.requestor)
  let now = core.clock.now
  let application = ApplicationRecord(
    id: try name("benchApp"), requestor: requestor, name: "Bench", issued: now)
  _ = try await core.store.put(.application(application), replacing: nil, audit: nil, at: now)
  try await core.refreshProvisioning()
  let client = ClientRecord(
    id: try name("benchClient"), secret: core.hasher.token("secret"), application: application.id,
    requestor: requestor, issued: now)
  try await core.store.register(client, at: now)
  return try core.accessTokens.issue(for: client, at: now).text
}

/// Makes a database with pending codes.
///
/// The rows equal those of the service's routes; one start of the service makes the rest.
private func fill(folder: String, codes: Int, _ grants: BenchGrants?) async throws {
  let store = try openStore(folder)
  let now = ServiceClock.machine.now
  try await provision(store, at: now)
  let hasher = try await KeyedHasher(store)
  let requestor: RequestorID = try name(BenchKeys.requestor)
  let rowKey: PublicKey = try name("benchRows")
  var drawn: [(order: UInt64, hash: CodeHash, number: Int)] = []
  for number in 0..<codes {
    guard let code = RegistrationCode(ordinal: UInt64(number)) else { continue }
    let hash = hasher.code(code)
    drawn.append((hash.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, hash, number))
  }
  drawn.sort { $0.order < $1.order }
  let sorted = drawn
  try await store.fill(codes) { place in
    let digits = String(place)
    let device: DeviceID = try name("box-\(sorted[place].number)")
    return RegistrationRecord(
      id: try name(
        "00000000-0000-4000-8000-\(String(repeating: "0", count: 12 - digits.count))\(digits)"),
      code: sorted[place].hash, requestor: requestor, device: device,
      deviceHash: hasher.device(device), rowKey: rowKey,
      flow: PairingFlow(issued: now, lifetime: .longest))
  }
  try await addClients(store, hasher, at: now)
  try await grants?.fill(store, hasher, folder: folder, at: now)
  let core = try await ServiceCore(
    ServiceOptions(publicURL: "http://127.0.0.1"), store: store, clock: ServiceClock.machine)
  try writeFile("\(folder)/token", try await accessToken(core).utf8)
  try writeFile("\(folder)/master-key", "\(Hex.encode(masterKey))\n".utf8)
  guard unsafe chmod("\(folder)/master-key", 0o600) == 0 else { throw TestSupportError("chmod: errno \(errno)") }
  store.close()
}

private func addClients(_ store: SQLiteStore, _ hasher: KeyedHasher, at now: Instant) async throws {
  for (id, algorithm, method) in [
    (BenchClients.public, "ES256", "none"), (BenchClients.rsa, "RS256", "none"),
    (BenchClients.api, "ES256", "client_secret_basic"),
  ] {
    let client = OAuthClientRecord(
      id: try name(id), requestor: try name(BenchKeys.requestor), origin: .operator, name: "Bench",
      secret: method == "none" ? nil : hasher.token(BenchClients.secret),
      metadata: """
        {"client_name":"Bench","token_endpoint_auth_method":"\(method)","id_token_signed_response_alg":"\(algorithm)"}
        """, created: now)
    try await store.put(client, replacing: nil, in: .unlimited, audit: nil, at: now)
  }
  let key = JWK(try SigningKey.generate(.es256).publicKey, keyID: "k")
  let metadata: JSONObject = [
    "client_name": "Bench", "token_endpoint_auth_method": "private_key_jwt", "id_token_signed_response_alg": "ES256",
    "jwks": .object(JWKSet([key]).json),
  ]
  let keyed = OAuthClientRecord(
    id: try name(BenchClients.keyed), requestor: try name(BenchKeys.requestor), origin: .operator, name: "Bench",
    metadata: String(decoding: metadata.bytes(), as: UTF8.self), created: now)
  try await store.put(keyed, replacing: nil, in: .unlimited, audit: nil, at: now)
}

/// `POST /bench/approve/NUMBER` approves the code of box-NUMBER as an operator does; `POST /bench/approve/LETTERS`
/// approves any code.
private func mountApproval(_ routes: inout Routes, _ core: ServiceCore) {
  routes.post("/bench/approve/{number}") { _, path in
    .later { reply in
      let number = path["number"]
      Task {
        do {
          let drawn = UInt64(number).flatMap { RegistrationCode(ordinal: $0) }
          let code = try drawn ?? RegistrationCode(typed: number)
          guard let record = core.codes.find(core.hasher.code(code)) else {
            throw TestSupportError("no code \(number)")
          }
          let viewer = Viewer(provider: try name("local"), account: try name("viewer"))
          _ = try await core.codeTransitions.approve(
            record.id,
            ApprovalRequest(
              by: .operator(try name("bench"), for: viewer),
              authentication: try name(Random.uuid())), audit: nil)
          reply.complete(Response(.noContent))
        } catch {
          reply.complete(.text(.internalServerError, "\(error)\n"))
        }
      }
    }
  }
}
