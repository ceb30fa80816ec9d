// ServiceTestSupport: a whole service in the test's process, with sample data, a clock that the test sets, and calls
// signed as a box signs them. Only the test targets import `Testing`.
public import HTTPTestSupport
import PasswordHashing
public import RegentPairing
package import HTTPServer
package import PairingService
package import PairingStore
import PairingStoreMemory
import RegentCryptography
import RegentJSON
import RegentPairingWire
import RegentPlatform

/// A wall clock and a boot clock that move only when the test moves them.
public final class TestClock: Sendable {
  private let offset: Locked<Int64>
  /// How far the wall clock is set ahead of the true time.
  private let ahead = Locked<Int64>(0)
  private static let start: Int64 = 1_700_000_000_000

  public init() { offset = Locked(0) }

  public var now: Instant { Instant(milliseconds: Self.start + offset.withLock { $0 } + ahead.withLock { $0 }) }

  /// Moves both clocks forward.
  public func pass(_ span: Duration) { offset.withLock { $0 += span.wholeMilliseconds } }

  /// Sets the wall clock ahead of the true time by `span`; the boot clock is unchanged.
  public func setAhead(_ span: Duration) { ahead.withLock { $0 = span.wholeMilliseconds } }

  package var service: ServiceClock {
    ServiceClock(
      wall: { [self] in now },
      boot: { [self] in Uptime(milliseconds: 1_000_000 + offset.withLock { $0 }) })
  }
}

/// Names and secrets of the sample data.
public enum Sample {
  public static let requestor = "REF30"
  /// The public key of the requestor's key pair for signed calls.
  public static let publicKey = "examplePublicKey0000000000000000"
  public static let secret = "exampleSecret123"
  /// The provider with local accounts.
  public static let provider = "local"
  /// The provider of a temporary pass of ten minutes.
  public static let pass = "pass"
  /// The provider of a temporary pass for two titles.
  public static let promotion = "promotion"
  public static let account = "demo"
  public static let password = "demo"
}

public final class TestService: Sendable {
  public let clock: TestClock
  package let core: ServiceCore
  private let nonces = Locked(0)

  /// Provisions the store and loads a service from it.
  ///
  /// With `usesMachineClock` time passes by itself.
  package init(
    on store: any Store = MemoryStore(), usesMachineClock: Bool = false,
    options: (inout ServiceOptions) -> Void = { _ in }, log: ServiceLog = .silent,
    _ change: (inout Requestor) -> Void = { _ in }
  ) async throws {
    clock = TestClock()
    let time = usesMachineClock ? ServiceClock.machine : clock.service
    var chosen = ServiceOptions(publicURL: "https://tv.example.org")
    options(&chosen)
    try await provision(store, at: time.now, change)
    core = try await ServiceCore(
      chosen, store: store, clock: time, log: log,
      passwords: Argon2Parameters(memory: 64, passes: 1, lanes: 1) ?? .standard)
    let phc = try await core.passwords.hash(Secret(Sample.password))
    _ = try await store.setPassword(
      phc, of: try named(Sample.account), at: try named(Sample.provider), by: .operator, audit: nil,
      at: time.now)
  }

  /// The same service after a restart: its memory is empty, the clock goes on.
  package init(restarting earlier: TestService, on store: any Store) async throws {
    clock = earlier.clock
    nonces.withLock { $0 = earlier.nonces.withLock { $0 } }
    core = try await ServiceCore(
      earlier.core.options, store: store, clock: clock.service,
      passwords: Argon2Parameters(memory: 64, passes: 1, lanes: 1) ?? .standard)
  }

  /// Another node of the same service, on the same store or another connection to it.
  package init(joining other: TestService, on store: (any Store)? = nil, as node: String) async throws {
    clock = other.clock
    // A nonce counts as used at all nodes, so each node draws its own.
    nonces.withLock { $0 = 1_000_000 * (1 + abs(node.hashValue % 1_000)) }
    var options = other.core.options
    options.node = try named(node)
    core = try await ServiceCore(
      options, store: store ?? other.core.store, clock: clock.service,
      passwords: Argon2Parameters(memory: 64, passes: 1, lanes: 1) ?? .standard)
  }

  /// The handler of all routes for devices.
  package func router() throws -> some Handler {
    RememberedPolls(core, before: try Router(ServiceRoutes.devices(core), refuse: ServiceRoutes.refuse))
  }
}

/// Makes an identifier of a text, or throws when the text is not valid.
public func named<Kind>(_ text: String) throws -> Identifier<Kind> {
  guard let name = Identifier<Kind>(text) else { throw NotAName(text: text) }
  return name
}

/// An error: the text is no valid identifier.
public struct NotAName: Error { let text: String }

private let signingKey = Result<SigningKeyRecord, any Error> {
  let key = try SigningKey.generate(.rs256, rsaBits: 2048)
  let id: SigningKeyID = try named(key.publicKey.thumbprint)
  let published = JWK(key.publicKey, keyID: id.text)
  let start = Instant(milliseconds: 0)
  return SigningKeyRecord(
    id: id, privateKey: StoredSecret(try key.pkcs8().exposedBytes()),
    publicKey: String(decoding: published.json.bytes(), as: UTF8.self), created: start,
    signsFrom: start)
}

private func provision(
  _ store: any Store, at now: Instant, _ change: (inout Requestor) -> Void
) async throws {
  var requestor = Requestor(
    id: try named(Sample.requestor), name: "Reference", domains: ["example.com"],
    metadataKeys: Set(MetadataKey.allCases))
  change(&requestor)
  func put(_ record: Provision) async throws {
    _ = try await store.put(record, replacing: nil, audit: nil, at: now)
  }
  try await put(.requestor(requestor))
  for (id, purpose, secret) in [
    (Sample.publicKey, KeyPair.Purpose.calls, Sample.secret),
    ("rowsOfREF30", .rows, "a secret that never leaves the service"),
  ] {
    try await store.add(
      KeyPair(
        publicKey: try named(id), requestor: requestor.id, purpose: purpose,
        secret: StoredSecret(Array(secret.utf8)), created: now), audit: nil, at: now)
  }
  let tenMinutes = TemporaryPassRules(duration: .seconds(600))
  let twoTitles = TemporaryPassRules(duration: .seconds(3600), resourceLimit: 2, promotional: true)
  // All services of a process share one key, because generating one takes longer than most tests.
  try await store.add(try signingKey.get(), audit: nil, at: now)
  for provider in [
    Provider(id: try named(Sample.provider), name: "Sample TV", kind: .local, featured: true),
    Provider(id: try named(Sample.pass), name: "Ten minutes", kind: .temporary(tenMinutes)),
    Provider(id: try named(Sample.promotion), name: "Two titles", kind: .temporary(twoTitles)),
  ] {
    try await put(.provider(provider))
    try await put(.integration(Integration(requestor: requestor.id, provider: provider.id)))
  }
  let attributes = AccountAttributes(
    zipCodes: ["12345"],
    maximumRatings: [ParentalRating(scheme: .mpaa, value: "PG-13")], channels: ["news", "sports"])
  try await put(
    .account(
      Account(
        provider: try named(Sample.provider), name: try named(Sample.account),
        household: try named("house-1"), attributes: attributes)))
}

// MARK: - Calls

extension TestService {
  /// A signed `Authorization` header for a call, with a new nonce unless one is given.
  public func signature(
    _ method: String, _ path: String, using algorithm: SignatureMethod = .hmacSHA1,
    at time: Instant? = nil, nonce: String? = nil, requestor: String = Sample.requestor,
    publicKey: String = Sample.publicKey, secret: String = Sample.secret
  ) throws -> (name: String, value: String) {
    let number = nonces.withLock { number in
      number += 1
      return number
    }
    let text = SignedHeader.textToSign(
      method: method, requestor: try named(requestor), nonce: nonce ?? "nonce-\(number)",
      signatureMethod: algorithm, requestTime: time ?? core.clock.now, requestURI: path)
    let key = try HMACKey(algorithm == .hmacSHA1 ? .sha1 : .sha256, Secret(secret))
    return (
      "Authorization",
      SignedHeader.header(
        textToSign: text, publicKey: try named(publicKey), signature: key.code(text))
    )
  }

  /// Sends a signed call.
  ///
  /// The signature does not cover the target's query.
  public func call(
    _ client: any TestClient, _ method: String, _ target: String,
    headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    let path = String(target.prefix { $0 != "?" })
    return try await client.send(
      TestRequest(method, target, headers: [try signature(method, path)] + headers))
  }
}

// MARK: - A phone without pages

extension TestService {
  /// Starts a browser session in which the sample account, or another one, is signed in.
  public func session(of account: String = Sample.account) async throws -> SessionID {
    let record = SessionRecord(
      id: try named(Random.uuid()), token: core.hasher.token(Random.uuid()),
      viewer: Viewer(provider: try named(Sample.provider), account: try named(account)),
      started: core.clock.now, lastUsed: core.clock.now)
    try await core.store.startSession(record, replacing: nil, proved: nil, at: core.clock.now)
    return record.id
  }

  /// Claims a code and approves it, as the phone's pages do.
  @discardableResult
  public func approve(_ code: String, as account: String = Sample.account) async throws -> RegistrationID {
    let session = try await session(of: account)
    let id = try await seen(code)
    _ = try await core.codeTransitions.open(id)
    _ = try await core.codeTransitions.claim(id, by: session)
    _ = try await core.codeTransitions.approve(
      id,
      ApprovalRequest(
        by: .session(session, picked: core.codes.find(id)?.flow.match?.number),
        authentication: try named(Random.uuid())), audit: nil)
    return id
  }

  /// Claims a code and denies it, as the phone's pages do.
  public func deny(_ code: String) async throws {
    let session = try await session()
    let id = try await seen(code)
    _ = try await core.codeTransitions.claim(id, by: session)
    _ = try await core.codeTransitions.deny(id, by: session, audit: nil)
  }

  /// Loads a code, which another node may have issued, and returns its registration.
  private func seen(_ code: String) async throws -> RegistrationID {
    try await core.codeLooks.look(at: core.hasher.code(try RegistrationCode(typed: code)))
    return try found(code)
  }

  /// The registration of a code that this node has loaded.
  public func found(_ code: String) throws -> RegistrationID {
    guard let record = core.codes.find(core.hasher.code(try RegistrationCode(typed: code))) else {
      throw NotAName(text: code)
    }
    return record.id
  }
}

// MARK: - More accounts and keys

extension TestService {
  /// Adds another key pair that signs calls for the sample requestor.
  public func addKey(_ id: String, _ secret: String = Sample.secret) async throws {
    let now = core.clock.now
    try await core.store.add(
      KeyPair(
        publicKey: try named(id), requestor: try named(Sample.requestor), purpose: .calls,
        secret: StoredSecret(Array(secret.utf8)), created: now), audit: nil, at: now)
    try await core.refreshProvisioning()
  }

  /// Adds another account of the sample provider, with the sample password.
  public func addAccount(_ name: String, household: String? = nil) async throws {
    let provider: ProviderID = try named(Sample.provider)
    let account: AccountName = try named(name)
    _ = try await core.store.put(
      .account(Account(provider: provider, name: account, household: try household.map { try named($0) })),
      replacing: nil, audit: nil, at: core.clock.now)
    let phc = try await core.passwords.hash(Secret(Sample.password))
    _ = try await core.store.setPassword(
      phc, of: account, at: provider, by: .operator, audit: nil, at: core.clock.now)
  }

  /// Disables an account of the sample provider, or enables it again.
  public func disable(_ name: String, _ isDisabled: Bool = true) async throws {
    let account = try await core.store.account(try named(Sample.provider), try named(name))
    guard let account else { throw NotAName(text: name) }
    var changed = account
    changed.isDisabled = isDisabled
    core.codeTransitions.settle(
      try await core.store.put(
        .account(changed), replacing: .account(account), audit: nil, at: core.clock.now))
  }
}
