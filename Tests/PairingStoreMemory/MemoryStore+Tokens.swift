public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    let found = try signIn(requestor, device, of: owner, at: now)
    guard let signIn = found.signIn else { return found }
    return .inForce(signIn, delivery: try delivery(of: signIn.record, at: now))
  }

  /// The device's sign-in at the requestor, without marking it as delivered.
  private func signIn(_ requestor: RequestorID, _ device: DeviceHash, of owner: SignInOwner?, at now: Instant)
    throws(StoreError) -> PickUp
  {
    func stored(under hash: DeviceHash) -> AuthenticationRecord? {
      authentications.values.first { $0.authentication.requestor == requestor && $0.deviceHash == hash }
    }
    let there = stored(under: device)
    if let owner, !(there.map { owner.made($0.about) && $0.authentication.isValid(at: now) } ?? false),
      let own = owner.separateHash(of: device).flatMap(stored(under:)), own.authentication.isValid(at: now)
    {
      return .inForce(try context(of: own).standing(own), delivery: nil)
    }
    guard let record = there else { return .none }
    guard owner?.owns(record.about) ?? true else {
      return record.authentication.isValid(at: now) ? .ofAnother(record.authentication.source) : .none
    }
    let signIn = try context(of: record).standing(record)
    return record.authentication.isValid(at: now)
      ? .inForce(signIn, delivery: nil) : .expired(record)
  }

  public func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError)
    -> ValidSignIn?
  {
    try standingNow(id, at: now)
  }

  func standingNow(_ id: AuthenticationID, at now: Instant) throws(StoreError) -> ValidSignIn? {
    guard let record = authentications[id], record.authentication.isValid(at: now) else { return nil }
    return try context(of: record).standing(record)
  }

  /// The device's valid sign-in that a degraded sign-in must not replace.
  private func regularSignIn(of record: AuthenticationRecord, at now: Instant) throws(StoreError)
    -> ValidSignIn?
  {
    do throws(StoreError) {
      let there = try signIn(record.authentication.requestor, record.deviceHash, of: nil, at: now).signIn
      return there?.authentication.source == .degraded ? nil : there
    } catch {
      guard case .notInForce = error else { throw error }
      return nil
    }
  }

  private func delivery(of record: AuthenticationRecord, at now: Instant) throws(StoreError)
    -> RegistrationChange?
  {
    // If the code was withdrawn or forgotten meanwhile, there is no delivery to record. The sign-in remains valid.
    guard let registration = record.registration.flatMap({ registrations[$0] }),
      case .approved = registration.flow.state
    else { return nil }
    return try apply(.deliver, to: registration, at: now)
  }

  public func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError)
    -> ValidSignIn
  {
    let authentication = record.authentication
    let record = record.stored(
      under: place(authentication.requestor, record.deviceHash, record.about, at: now))
    if authentication.source == .degraded, let there = try regularSignIn(of: record, at: now) {
      return there
    }
    let context = try context(of: record)
    var signIn = try context.standing(record)
    signIn.record = try record.bounded(by: context, at: now)
    if let there = authentications[authentication.id], there != signIn.record {
      throw .changedMeanwhile(what: "authentication")
    }
    keep(signIn.record)
    return signIn
  }

  public func signOut(requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    let places = [device] + (owner?.separateHash(of: device).map { [$0] } ?? [])
    return endAuthentications {
      $0.authentication.requestor == requestor && places.contains($0.deviceHash) && owner?.owns($0.about) ?? true
    }
  }

  public func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    let ended = endAuthentications(where: filter.includes)
    if !ended.isEmpty { note(entry) }
    return ended
  }

  public func makeRoom(
    besides new: AuthenticationRecord, _ room: SignInRoom,
    audit line: @escaping @Sendable (AuthenticationRecord) -> AuditEntry, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    let viewer = new.authentication.viewer
    guard viewer.account != nil else { return [] }
    let all = authentications.values.filter { $0.authentication.viewer == viewer }
    let ended = room.surplus(of: all, besides: new.authentication.id, at: now)
    for record in ended { note(line(record)) }
    let ids = Set(ended.map(\.authentication.id))
    _ = endAuthentications { ids.contains($0.authentication.id) }
    return ended
  }

  public func authentications(
    _ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    let meant = authentications.values.filter { record in
      filter.includes(record) && record.authentication.isValid(at: now) && isListed(record, at: now)
        && (id.map { $0 < record.authentication.id } ?? true)
    }
    return Array(meant.sorted { $0.authentication.id < $1.authentication.id }.prefix(limit))
  }

  public func setVisitorID(_ visitorID: String, of id: AuthenticationID, at now: Instant)
    async throws(StoreError) -> Bool
  {
    guard let changed = authentications[id]?.reporting(visitorID: visitorID) else { return false }
    authentications[id] = changed
    return true
  }

  public func name(
    _ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    guard names[screen] != name else { return }
    names[screen] = name
    note(entry)
  }

  public func countSignedInBoxes(at now: Instant) async throws(StoreError) -> Int {
    Set(authentications.values.filter { $0.authentication.isValid(at: now) }.map(\.deviceHash)).count
  }

  public func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String] {
    names.filter { screens.contains($0.key) }
  }

  public func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> PermitLookup
  {
    guard let permit = permits[authentication]?[resource]?.permit else { return .none }
    return permit.isValid(at: now) ? .inForce(permit) : .expired
  }

  public func record(_ permit: Permit, keeping most: Int, at now: Instant) async throws(StoreError) -> Permit {
    try keep(permit, of: usable(permit.authentication, at: now), among: most, at: now)
  }

  private func usable(_ id: AuthenticationID, at now: Instant) throws(StoreError)
    -> AuthenticationRecord
  {
    guard let record = authentications[id] else { throw .notFound(what: "authentication") }
    guard record.authentication.isValid(at: now) else { throw .notInForce(.expired) }
    return record
  }

  private func keep(_ permit: Permit, of record: AuthenticationRecord, among most: Int, at now: Instant) -> Permit {
    let existing = permits[permit.authentication]?[permit.resource]?.permit
    if let existing, !Permit.isWorthWriting(over: existing, at: now) { return existing }
    let bounded = Permit(
      authentication: permit.authentication, resource: permit.resource, issued: permit.issued,
      expires: min(permit.expires, record.authentication.expires))
    var all = permits[permit.authentication, default: [:]]
    if existing == nil {
      let ages = all.values.map(\.permit).sorted { one, other in
        (one.issued <= now ? 1 : 0, one.issued) < (other.issued <= now ? 1 : 0, other.issued)
      }
      for old in ages.prefix(max(0, all.count - max(most, 1) + 1)) { all[old.resource] = nil }
    }
    all[permit.resource] = PermitRecord(permit: bounded, rowKey: record.rowKey)
    permits[permit.authentication] = all
    return bounded
  }

  public func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, keeping most: Int, at now: Instant
  ) async throws(StoreError) -> Permit {
    let record = try usable(authentication, at: now)
    let viewer = record.authentication.viewer
    let requestor = record.authentication.requestor
    guard let rules = records.providers[viewer.provider]?.temporaryPass else {
      throw .notFound(what: "temporary pass")
    }
    let before = use(requestor, viewer.provider, record.deviceHash, record.identity)
    let after: TemporaryPassUse
    do throws(TemporaryPassRefusal) {
      after = try rules.opening(resource.stored, before, at: now)
    } catch {
      throw .pass(error)
    }
    let key = PassKey(
      requestor: requestor, provider: viewer.provider, device: record.deviceHash,
      identity: record.identity)
    passes[key] = after
    let ending = record.ending(at: rules.expires(after, at: now))
    authentications[authentication] = ending
    return keep(
      Permit(
        authentication: authentication, resource: resource, issued: now,
        expires: ending.authentication.expires), of: ending, among: most, at: now)
  }

  public func temporaryPass(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?
  ) async throws(StoreError) -> TemporaryPassUse {
    use(requestor, provider, device, identity)
  }

  public func temporaryPasses(
    requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int
  ) async throws(StoreError) -> [TemporaryPassRecord] {
    let all = passes.map { key, use in
      TemporaryPassRecord(
        requestor: key.requestor, provider: key.provider, device: key.device,
        identity: key.identity, use: use)
    }
    let meant = all.filter { pass in
      pass.requestor == requestor ?? pass.requestor && pass.provider == provider ?? pass.provider
        && last.map { $0 < pass.place } ?? true
    }
    return Array(meant.sorted { $0.place < $1.place }.prefix(limit))
  }

  public func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int {
    func isMeant(_ device: DeviceHash, _ identity: IdentityHash?) -> Bool {
      switch whose {
      case .device(let one): device == one
      case .identity(let one): identity == one
      case .all: true
      }
    }
    let before = passes.count
    passes = passes.filter { key, _ in
      key.requestor != requestor || key.provider != provider || !isMeant(key.device, key.identity)
    }
    _ = endAuthentications {
      $0.authentication.requestor == requestor && $0.authentication.viewer.provider == provider
        && $0.authentication.source == .temporary && isMeant($0.deviceHash, $0.identity)
    }
    note(entry)
    return before - passes.count
  }
}
