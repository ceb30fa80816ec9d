public import PairingStore
import RegentPairing
import Synchronization

/// A store that keeps everything in memory: for tests, and as the shortest description of what each store call means.
///
/// An actor with no `await` inside its calls, so each call is a transaction. A call that throws half-way would leave
/// half of its change, so every call checks first and writes last.
public actor MemoryStore: Store {
  var registrations: [RegistrationID: RegistrationRecord] = [:]
  var codes: [CodeHash: RegistrationID] = [:]
  var authentications: [AuthenticationID: AuthenticationRecord] = [:] { didSet { moved() } }
  var permits: [AuthenticationID: [ResourceID: PermitRecord]] = [:]
  var passes: [PassKey: TemporaryPassUse] = [:] { didSet { moved() } }
  var sessions: [SessionID: SessionRecord] = [:]
  var records = Provisioning() {
    didSet {
      changed(.provisioning)
      moved()
    }
  }
  var accounts: [ProviderID: [AccountName: Account]] = [:] { didSet { moved() } }
  var passwords: [ProviderID: [AccountName: String]] = [:]
  var clients: [ClientID: ClientRecord] = [:]
  var boxes: [BoxID: BoxRecord] = [:] { didSet { moved() } }
  var permissions: [PlatformPermissionRecord] = [] { didSet { moved() } }
  var usedRequests: [String: Instant] = [:]
  var enrolments: [EnrolmentID: EnrolmentRecord] = [:]
  var oauthClients: [ClientID: OAuthClientRecord] = [:] { didSet { moved() } }
  var clientInvitations: [EnrolmentID: ClientInvitationRecord] = [:]
  var grants: [GrantID: GrantRecord] = [:] { didSet { moved() } }
  var material: [KeyPurpose: StoredSecret] = [:]
  var signing: [SigningKeyID: SigningKeyRecord] = [:] { didSet { changed(.signingKeys) } }
  var log: [AuditEntry] = []
  /// How many of the oldest audit lines were deleted.
  var forgotten = 0
  /// Numbers of deleted lines that unauthenticated clients had caused.
  var dropped: Set<Int64> = []
  var failures: [LoginSubject: LoginFailures] = [:]
  /// The highest failure counts of subjects that were forgotten because there were too many.
  var otherFailures: LoginFailures?
  var names: [ScreenHash: String] = [:]
  var numbers: [StoredCounters: [NodeID?: String]] = [:]
  /// How many accounts were looked up.
  ///
  /// Tests compare it with the calls of the service.
  public private(set) var accountReads = 0
  /// Whether several services of a test use this store, as nodes share a database.
  public nonisolated let isShared: Bool
  var changes: [StoreChange] = []
  var nonces: [UsedNonce] = []
  var guesses: [WrongGuess] = []
  var duties: [NodeDuty: (node: NodeID, until: Instant)] = [:]

  private nonisolated let mark = Atomic<UInt64>(0)

  public init(isShared: Bool = false) { self.isShared = isShared }

  /// Advances with every change of a record that grants depend on, even if the change ends no grant.
  public nonisolated var standingMark: UInt64? { mark.load(ordering: .acquiring) }

  private func moved() { mark.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

/// Identifies the use of a temporary pass.
///
/// There is one entry for each pair of device and identity, so that a reset of one device or identity leaves the
/// others unchanged.
struct PassKey: Hashable, Sendable {
  let requestor: RequestorID
  let provider: ProviderID
  let device: DeviceHash
  let identity: IdentityHash?
}

// MARK: - Shared by the store calls

extension MemoryStore {
  func find(_ name: AccountName, at provider: ProviderID) -> Account? {
    accountReads += 1
    return accounts[provider]?[name]
  }

  func required(_ id: RegistrationID) throws(StoreError) -> RegistrationRecord {
    guard let record = registrations[id] else { throw .notFound(what: "code") }
    return record
  }

  /// Applies one event to a registration and stores the result.
  func apply(_ event: PairingEvent, to record: RegistrationRecord, at now: Instant)
    throws(StoreError) -> RegistrationChange
  {
    do throws(PairingRefusal) {
      let step = try record.flow.applying(event, at: now)
      let moved = record.moved(to: step.flow)
      registrations[record.id] = moved
      changed(.code(record.id))
      return RegistrationChange(record: moved, actions: step.actions)
    } catch {
      throw .refused(error)
    }
  }

  func context(
    _ viewer: Viewer, _ requestor: RequestorID, rowKey: PublicKey, device: DeviceHash,
    identity: IdentityHash?
  ) -> SignInContext {
    SignInContext(
      integration: records.integrations[requestor]?[viewer.provider],
      provider: records.providers[viewer.provider],
      account: viewer.account.flatMap { find($0, at: viewer.provider) },
      rowKey: records.keyPairs[rowKey],
      use: use(requestor, viewer.provider, device, identity))
  }

  func context(of record: AuthenticationRecord) throws(StoreError) -> SignInContext {
    var found = context(
      record.authentication.viewer, record.authentication.requestor, rowKey: record.rowKey,
      device: record.deviceHash, identity: record.identity)
    if let parent = record.authentication.parent {
      try found.take(try refusal(ofParent: parent, of: record), ofParentOf: record)
    }
    return found
  }

  func use(
    _ requestor: RequestorID, _ provider: ProviderID, _ device: DeviceHash,
    _ identity: IdentityHash?
  ) -> TemporaryPassUse {
    passes.filter { key, _ in
      key.requestor == requestor && key.provider == provider
        && (key.device == device || (identity != nil && key.identity == identity))
    }.values.reduce(TemporaryPassUse()) { $0.joined(with: $1) }
  }

  func liveSession(_ id: SessionID, at now: Instant) throws(StoreError) -> SessionRecord {
    guard let session = sessions[id], session.isValid(at: now) else { throw .sessionEnded }
    guard signInRefusal(of: session.viewer) == nil else { throw .sessionEnded }
    return session
  }

  /// Why a browser may not be signed in as this viewer; nil if it may.
  func signInRefusal(of viewer: Viewer) -> AuthenticationRefusal? {
    guard let provider = records.providers[viewer.provider] else { return .notIntegrated }
    guard let name = viewer.account else {
      return provider.temporaryPass == nil ? .accountGone : nil
    }
    guard provider.kind == .local, let account = find(name, at: viewer.provider) else {
      return .accountGone
    }
    return account.isDisabled ? .accountDisabled : nil
  }

  /// Ends sessions and releases the codes that they had claimed.
  func endSessions(at now: Instant, where isMeant: (SessionRecord) -> Bool) -> [RegistrationChange] {
    let ended = Set(sessions.values.filter(isMeant).map(\.id))
    for id in ended { sessions[id] = nil }
    return registrations.values.sorted { $0.id < $1.id }.compactMap { record in
      guard case .claimed(let lease) = record.flow.settled(at: now).state else { return nil }
      guard ended.contains(lease.claimer.session) else { return nil }
      return try? apply(.release(lease.claimer.session), to: record, at: now)
    }
  }

  func endAuthentications(where isMeant: (AuthenticationRecord) -> Bool) -> [AuthenticationRecord] {
    let ended = authentications.values.filter(isMeant).sorted {
      $0.authentication.id < $1.authentication.id
    }
    for record in ended {
      authentications[record.authentication.id] = nil
      changed(.signIn(record.authentication.requestor, record.deviceHash))
      permits[record.authentication.id] = nil
      boxes = boxes.filter { $0.value.authentication != record.authentication.id }
      endGrants(of: record.authentication.id)
    }
    return ended
  }

  /// Ends the grants that depend on a sign-in.
  func endGrants(of id: AuthenticationID) { grants = grants.filter { $0.value.authentication != id } }

  /// The hash under which a new sign-in is stored: the device's, or its owner's separate one while another owner has
  /// the device's.
  func place(
    _ requestor: RequestorID, _ device: DeviceHash, _ about: DeviceDescription, at now: Instant
  ) -> DeviceHash {
    let isLeft = authentications.values.contains {
      $0.authentication.requestor == requestor && $0.deviceHash == device && $0.authentication.isValid(at: now)
        && about.leaves($0.about) { records.keyPairs[$0] }
    }
    return isLeft ? about.owner.map(device.separate(for:)) ?? device : device
  }

  /// Stores a new authentication, which replaces its owner's earlier one of the device at the requestor.
  func keep(_ record: AuthenticationRecord) {
    let places = [record.deviceHash] + (record.about.owner.map { [record.deviceHash.separate(for: $0)] } ?? [])
    _ = endAuthentications {
      $0.authentication.requestor == record.authentication.requestor && places.contains($0.deviceHash)
    }
    authentications[record.authentication.id] = record
    changed(.signIn(record.authentication.requestor, record.deviceHash))
  }

  func note(_ entry: AuditEntry?) {
    if let entry { log.append(entry) }
  }
}
