import PairingStore
import RegentPairing

/// A store with the records that the checks need: a requestor, three providers and two accounts.
struct ConformanceFixture: Sendable {
  var store: any Store
  /// A second handle on the same database, as another node has it.
  let other: any Store
  private(set) var requestor: RequestorID
  let local: ProviderID
  let pass: ProviderID
  let promotion: ProviderID
  private(set) var rowKey: PublicKey
  let ann: Viewer
  let bob: Viewer
  let carl: OperatorName

  /// Adds these records to an empty store.
  init(_ store: any Store, beside other: (any Store)? = nil) async throws {
    self.store = store
    self.other = other ?? store
    requestor = try Self.name("REF30")
    local = try Self.name("local")
    pass = try Self.name("pass")
    promotion = try Self.name("promotion")
    rowKey = try Self.name("rows-of-REF30")
    ann = Viewer(provider: local, account: try Self.name("ann"))
    bob = Viewer(provider: local, account: try Self.name("bob"))
    carl = try Self.name("carl")
    try await provision()
  }

  private func provision() async throws {
    let hour = TemporaryPassRules(duration: .seconds(3600))
    let two = TemporaryPassRules(duration: .seconds(3600), resourceLimit: 2, promotional: true)
    try await provisionRequestor()
    for provider in [
      Provider(id: local, name: "Local", kind: .local),
      Provider(id: pass, name: "Pass", kind: .temporary(hour)),
      Provider(id: promotion, name: "Promotion", kind: .temporary(two)),
    ] {
      try await put(.provider(provider))
      try await put(.integration(Integration(requestor: requestor, provider: provider.id)))
    }
    for viewer in [ann, bob] {
      try await put(.account(try account(viewer)))
    }
  }

  private func provisionRequestor() async throws {
    try await put(.requestor(Requestor(id: requestor, name: "Reference")))
    try await store.add(
      KeyPair(
        publicKey: rowKey, requestor: requestor, purpose: .rows, secret: StoredSecret([1, 2, 3]),
        created: at(0)), audit: nil, at: at(0))
  }

  /// The same store with another requestor and its own row key.
  func besides(_ name: String) async throws -> ConformanceFixture {
    var fixture = self
    fixture.requestor = try Self.name(name)
    fixture.rowKey = try Self.name("rows-of-\(name)")
    try await fixture.provisionRequestor()
    return fixture
  }

  static func name<Kind>(_ text: String, line: Int = #line) throws -> Identifier<Kind> {
    try found(Identifier<Kind>(text), "name \(text)", line: line)
  }

  /// A hash that repeats the four bytes of this number.
  ///
  /// A store does not care what was hashed.
  func hash<Kind>(_ number: Int) throws -> KeyedHash<Kind> {
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }
    return try found(KeyedHash<Kind>(bytes), "hash")
  }

  func at(_ seconds: Int) -> Instant {
    Instant(milliseconds: 1_700_000_000_000) + .seconds(seconds)
  }

  func put(_ record: Provision, replacing seen: Provision? = nil) async throws {
    _ = try await store.put(record, replacing: seen, audit: nil, at: at(0))
  }

  func account(_ viewer: Viewer, isDisabled: Bool = false) throws -> Account {
    Account(
      provider: viewer.provider, name: try found(viewer.account, "account"), isDisabled: isDisabled)
  }

  func disable(_ viewer: Viewer) async throws {
    try await put(
      .account(try account(viewer, isDisabled: true)), replacing: .account(try account(viewer)))
  }
}

// MARK: - Codes, sessions and sign-ins

extension ConformanceFixture {
  /// A registration that has not been reserved yet.
  func registration(
    _ number: Int, device: Int = 1, match: NumberMatch? = nil, owner: String? = nil, second: Int = 0
  ) throws -> RegistrationRecord {
    // Each text field has a different value, so that a store that drops or swaps a field is noticed.
    let older = OlderDeviceFields(
      deviceType: "television", deviceUser: "a user", appID: "an app", appVersion: "1.2",
      registrationURL: "https://tv.example/r")
    return RegistrationRecord(
      id: try Self.name("registration-\(number)"), code: try hash(number), requestor: requestor,
      device: try Self.name("device-\(device)"), deviceHash: try hash(1000 + device),
      rowKey: rowKey,
      about: DeviceDescription(
        name: "A box", information: "{\"model\":\"Box 3\"}", userAgent: "box/1", older: older, data: "its data",
        options: "its options", owner: owner),
      flow: PairingFlow(issued: at(second), lifetime: .usual, match: match))
  }

  @discardableResult
  func reserve(_ record: RegistrationRecord, limit: Int = 100, second: Int = 0) async throws
    -> [RegistrationChange]
  {
    try await store.reserve(record, within: LiveCodeLimits(limit), at: at(second)).withdrawn
  }

  /// A signed-in browser.
  func session(_ number: Int, as viewer: Viewer, second: Int = 0) async throws -> SessionID {
    let record = SessionRecord(
      id: try Self.name("session-\(number)"), token: try hash(2000 + number), viewer: viewer,
      started: at(second), lastUsed: at(second), userAgent: "phone/1")
    try await store.startSession(record, replacing: nil, proved: nil, at: at(second))
    return record.id
  }

  /// Reserves a registration and lets a session of Ann claim it.
  func claimed(_ number: Int, device: Int = 1, match: NumberMatch? = nil, owner: String? = nil) async throws
    -> (record: RegistrationRecord, session: SessionID)
  {
    let record = try registration(number, device: device, match: match, owner: owner)
    try await reserve(record)
    let session = try await session(number, as: ann)
    _ = try await store.claim(record.id, by: session, at: at(1))
    return (record, session)
  }

  func yes(_ session: SessionID, picked: Int? = nil, as number: Int = 1) throws -> ApprovalRequest {
    ApprovalRequest(
      by: .session(session, picked: picked),
      authentication: try Self.name("authentication-\(number)"))
  }

  func order(for viewer: Viewer, as number: Int = 1) throws -> ApprovalRequest {
    ApprovalRequest(
      by: .operator(carl, for: viewer), authentication: try Self.name("authentication-\(number)"))
  }

  /// Signs the device in for Ann.
  @discardableResult
  func signedIn(_ number: Int, device: Int = 1, owner: String? = nil) async throws -> AuthenticationRecord {
    let (record, session) = try await claimed(number, device: device, owner: owner)
    let result = try await store.approve(
      record.id, try yes(session, as: number), audit: nil, at: at(2))
    return try found(result.authentication, "authentication")
  }

  /// A guest's sign-in without a code that has not been stored yet.
  func guest(
    _ number: Int, at provider: ProviderID, device: Int = 1, identity: Int? = nil, second: Int = 0
  ) throws -> AuthenticationRecord {
    AuthenticationRecord(
      authentication: Authentication(
        id: try Self.name("authentication-\(number)"), requestor: requestor,
        viewer: Viewer(provider: provider, account: nil), household: nil, profile: nil,
        source: .temporary, issued: at(second), expires: at(second + 100_000)),
      device: try Self.name("device-\(device)"), deviceHash: try hash(1000 + device),
      identity: try identity.map { try hash(3000 + $0) }, rowKey: rowKey)
  }

  func pickUp(device: Int = 1, awaitsDelivery: Bool = false, second: Int) async throws -> PickUp {
    try await store.pickUp(
      requestor: requestor, device: hash(1000 + device), awaitsDelivery: awaitsDelivery,
      at: at(second))
  }

  func allAuthentications(second: Int = 3) async throws -> [AuthenticationRecord] {
    try await store.authentications(
      AuthenticationFilter(), after: nil, limit: 1000, at: at(second))
  }

  func status(_ record: RegistrationRecord, second: Int) async throws -> PairingStatus {
    try found(await store.registration(record.id, at: at(second)), "registration").flow.status(
      at: at(second))
  }

  /// Runs `body` for each number at once.
  ///
  /// The results come in any order.
  func together<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Value
  ) async throws -> [Result<Value, StoreError>] {
    try await withThrowingTaskGroup(of: Result<Value, StoreError>.self) { group in
      for number in 0..<count {
        group.addTask {
          do {
            return .success(try await body(number))
          } catch let error as StoreError {
            return .failure(error)
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }
}

extension Array {
  /// The values of the calls that succeeded.
  func successes<Value>() -> [Value] where Element == Result<Value, StoreError> {
    compactMap { try? $0.get() }
  }
}
