import PairingStore
import PairingStoreMemory
import RegentCryptography
import RegentPairing
import ServiceTestSupport

/// The expected state: the memory store and its `PairingFlow`, which get the same story as operations, with other ids.
///
/// It has the rules of the operations, but no routes, pages, cookies, caches, SQL or row signatures: a fault in any of
/// these shows as a difference.
struct Oracle {
  let store = MemoryStore()
  let requestor: RequestorID
  let local: ProviderID
  let pass: ProviderID
  private static let right = 10
  private static let wrong = 11

  init() async throws {
    // For its sample data.
    try await TestService(on: store).addAccount("anna")
    requestor = try named(Sample.requestor)
    local = try named(Sample.provider)
    pass = try named(Sample.pass)
  }

  /// Whether the store accepts an operation.
  func happens(_ verb: (MemoryStore) async throws(StoreError) -> Void) async -> Bool {
    do throws(StoreError) {
      try await verb(store)
      return true
    } catch {
      return false
    }
  }

  func viewer(_ account: String) throws -> Viewer { Viewer(provider: local, account: try named(account)) }

  // Any distinct value will do: the store does not check how the hash of a device was made.
  func hash<Kind>(_ number: Int) throws -> KeyedHash<Kind> {
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }
    guard let hash = KeyedHash<Kind>(bytes) else { throw Difference("a hash has 32 bytes") }
    return hash
  }

  // MARK: - Codes

  func offer(_ code: Int, box: Int, matches: Bool, seconds: Int, at now: Instant) async throws -> RegistrationID {
    let id: RegistrationID = try named(Random.uuid())
    let match = matches ? NumberMatch(number: Self.right) : nil
    guard let lifetime = CodeLifetime(asked: seconds), let device = DeviceID(Box.name(box)) else {
      throw Difference("not a lifetime: \(seconds)")
    }
    let record = RegistrationRecord(
      id: id, code: try hash(code), requestor: requestor, device: device, deviceHash: try hash(box),
      rowKey: try named("rowsOfREF30"), flow: PairingFlow(issued: now, lifetime: lifetime, match: match))
    _ = try await store.reserve(record, within: LiveCodeLimits(.max), at: now)
    return id
  }

  /// The state of a code at `now`, or nil when it is forgotten.
  func flow(of code: RegistrationID, at now: Instant) async throws -> PairingFlow? {
    try await store.registration(code, at: now)?.flow.settled(at: now)
  }

  /// The session that has claimed a code.
  func holder(of code: RegistrationID, at now: Instant) async throws -> SessionID? {
    guard case .claimed(let lease)? = try await flow(of: code, at: now)?.state, lease.until > now else { return nil }
    return lease.claimer.session
  }

  func claim(_ code: RegistrationID, by session: SessionID, at now: Instant) async -> Bool {
    await happens { store throws(StoreError) in _ = try await store.claim(code, by: session, at: now) }
  }

  /// Approves a code; `picked` is whether the right number was picked, or nil if the code has none.
  func approve(_ code: RegistrationID, by session: SessionID, picked: Bool?, at now: Instant) async throws -> Bool {
    try await approve(
      code, .session(session, picked: picked.map { $0 ? Self.right : Self.wrong }), at: now)
  }

  func approve(_ code: RegistrationID, _ by: ApprovalRequest.By, at now: Instant) async throws -> Bool {
    let request = ApprovalRequest(by: by, authentication: try named(Random.uuid()))
    return await happens { store throws(StoreError) in
      _ = try await store.approve(code, request, audit: nil, at: now)
    }
  }

  // MARK: - Browsers

  /// Starts a browser session; returns nil when the store refuses it.
  func start(_ viewer: Viewer, at now: Instant) async throws -> SessionID? {
    let id: SessionID = try named(Random.uuid())
    let session = SessionRecord(
      id: id, token: try hash(id.hashValue & 0xFFFF_FFFF), viewer: viewer, started: now, lastUsed: now)
    return await happens { store throws(StoreError) in
      _ = try await store.startSession(session, replacing: nil, proved: nil, at: now)
    } ? id : nil
  }

  /// A browser's session, if it is in force.
  func session(_ id: SessionID?, at now: Instant) async throws -> SessionRecord? {
    guard let id else { return nil }
    return try await store.sessions(after: nil, limit: .max, at: now).first { $0.id == id }
  }

  func end(_ session: SessionID, at now: Instant) async throws {
    _ = try await store.endSession(session, audit: nil, at: now)
  }

  // MARK: - Boxes

  /// Looks up a box's sign-in, if it is in force; the lookup counts as the delivery.
  func pickUp(_ box: Int, at now: Instant) async throws -> ValidSignIn? {
    let device: DeviceHash = try hash(box)
    do throws(StoreError) {
      return try await store.pickUp(requestor: requestor, device: device, awaitsDelivery: true, at: now).signIn
    } catch {
      guard case .notInForce = error else { throw error }
      return nil
    }
  }

  /// Whether a box may watch a title; if so, its permit is recorded.
  func authorizes(_ title: String, for signIn: ValidSignIn, at now: Instant) async throws -> Bool {
    guard try await permits(title, for: signIn) else { return false }
    let resource = try self.resource(title)
    guard signIn.account != nil else {
      if try await holdsPermit(title, signIn, at: now) { return true }
      return await happens { store throws(StoreError) in
        _ = try await store.openTemporarily(signIn.authentication.id, resource, at: now)
      }
    }
    let lifetime = signIn.integration.settings.authorizationLifetime
    let permit = Permit(resource, for: signIn.authentication, lifetime: lifetime, at: now)
    return await happens { store throws(StoreError) in _ = try await store.record(permit, at: now) }
  }

  /// Whether the rules allow a title: a guest may watch everything while the pass lasts, others what their line-up has.
  func permits(_ title: String, for signIn: ValidSignIn) async throws -> Bool {
    guard signIn.account != nil else { return true }
    let rules = try await store.provisioning().entitlements[local] ?? []
    guard signIn.account?.attributes.channels.contains(title) == true else { return false }
    return rules.isEmpty
  }

  func holdsPermit(_ title: String, _ signIn: ValidSignIn, at now: Instant) async throws -> Bool {
    if case .inForce = try await store.permit(signIn.authentication.id, try resource(title), at: now) { return true }
    return false
  }

  private func resource(_ title: String) throws -> ResourceID {
    guard let resource = ResourceID(title) else { throw Difference("not a resource: \(title)") }
    return resource
  }

  // MARK: - Operators

  /// Whether viewers of the local provider may sign in.
  func isIntegrated() async throws -> Bool {
    try await store.provisioning().integrations[requestor]?[local]?.enabled == true
  }

  func isDisabled(_ account: String) async throws -> Bool {
    try await store.account(local, try named(account))?.isDisabled ?? true
  }

  func change(_ account: String, at now: Instant, _ edit: (inout Account) -> Void) async throws {
    guard let seen = try await store.account(local, try named(account)) else { return }
    var changed = seen
    edit(&changed)
    _ = try await store.put(.account(changed), replacing: .account(seen), audit: nil, at: now)
  }

  func integrate(_ isOn: Bool, at now: Instant) async throws {
    guard let seen = try await store.provisioning().integrations[requestor]?[local] else { return }
    var changed = seen
    changed.enabled = isOn
    _ = try await store.put(.integration(changed), replacing: .integration(seen), audit: nil, at: now)
  }

  /// Adds a rule that denies everything, or removes it.
  func setDenyRule(_ isOn: Bool, at now: Instant) async throws {
    let there = try await store.provisioning().entitlements[local]?.first
    if let there, !isOn { _ = try await store.remove(.entitlement(there.id), audit: nil, at: now) }
    guard isOn, there == nil, let all = ResourcePattern("*") else { return }
    let rule = Entitlement(
      id: try named("nothing"), provider: local, scope: .everybody, pattern: all, effect: .deny(message: nil))
    _ = try await store.put(.entitlement(rule), replacing: nil, audit: nil, at: now)
  }
}

/// A difference between the service and the oracle.
struct Difference: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
