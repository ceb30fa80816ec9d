public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func reserve(_ record: RegistrationRecord, within limits: LiveCodeLimits, at now: Instant)
    async throws(StoreError) -> Reservation
  {
    guard records.requestors[record.requestor] != nil else { throw .notFound(what: "requestor") }
    guard let pair = records.keyPairs[record.rowKey], pair.requestor == record.requestor,
      pair.purpose == .rows, pair.state == .active
    else { throw .notFound(what: "row key") }
    let pending = registrations.values.filter { $0.flow.settled(at: now).state.isPending }
    let there = pending.filter { $0.requestor == record.requestor && $0.deviceHash == record.deviceHash }
    let isLeft =
      place(record.requestor, record.deviceHash, record.about, at: now) != record.deviceHash
      || there.contains { record.about.leaves($0.about) { records.keyPairs[$0] } }
    let record = isLeft ? record.separated : record
    let hasEarlierSignIn = authentications.values.contains {
      $0.authentication.requestor == record.requestor && $0.deviceHash == record.deviceHash
        && $0.authentication.isValid(at: now)
    }
    if registrations[record.id] == record {
      return Reservation(withdrawn: [], hasEarlierSignIn: hasEarlierSignIn, record: record)
    }
    guard registrations[record.id] == nil, !isTaken(record.code, at: now) else { throw .codeTaken }
    let earlier = pending.filter {
      $0.requestor == record.requestor && $0.deviceHash == record.deviceHash
    }
    let own = pending.count { $0.requestor == record.requestor } - earlier.count
    let limit = limits.most(having: own)
    guard pending.count - earlier.count < limit else { throw .tooManyLiveCodes(limit: limit) }
    registrations[record.id] = record
    changed(.code(record.id))
    codes[record.code] = record.id
    let withdrawn = earlier.sorted { $0.id < $1.id }.compactMap {
      try? apply(.withdraw(.newerCode), to: $0, at: now)
    }
    return Reservation(withdrawn: withdrawn, hasEarlierSignIn: hasEarlierSignIn, record: record)
  }

  private func isTaken(_ code: CodeHash, at now: Instant) -> Bool {
    codes[code].flatMap { registrations[$0] }.map { now < $0.flow.forgettable } ?? false
  }

  public func open(_ id: RegistrationID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try apply(.open, to: required(id), at: now)
  }

  public func claim(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    let viewer = try liveSession(session, at: now).viewer
    return try apply(.claim(Claimer(session: session, viewer: viewer)), to: required(id), at: now)
  }

  public func renew(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    _ = try liveSession(session, at: now)
    return try apply(.renew(session), to: required(id), at: now)
  }

  public func release(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try apply(.release(session), to: required(id), at: now)
  }

  public func approve(
    _ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> ApprovalResult {
    let record = try required(id)
    let change = try approved(record, request, at: now)
    note(entry)
    return change
  }

  private func approved(
    _ record: RegistrationRecord, _ request: ApprovalRequest, at now: Instant
  ) throws(StoreError) -> ApprovalResult {
    let event: PairingEvent
    switch request.by {
    case .session(let session, let picked):
      _ = try liveSession(session, at: now)
      event = .approve(session, picked: picked, as: request.authentication)
    case .operator(let name, let viewer):
      event = .approveByOperator(name, for: viewer, as: request.authentication)
    }
    let step: PairingStep
    do throws(PairingRefusal) {
      step = try record.flow.applying(event, at: now)
    } catch {
      throw .refused(error)
    }
    // Check that the sign-in may be made before anything is written, because a store call must not write half of its
    // change.
    var authentication: AuthenticationRecord?
    if let approval = step.flow.state.approval {
      guard authentications[approval.authentication] == nil else {
        throw .changedMeanwhile(what: "authentication")
      }
      guard hasClient(record) else { throw .refused(.withdrawn) }
      let device = place(record.requestor, record.deviceHash, record.about, at: now)
      let context = context(
        approval.viewer, record.requestor, rowKey: record.rowKey, device: device, identity: nil)
      authentication = try record.authentication(for: approval, in: context, at: now).stored(under: device)
    }
    if let authentication { keep(authentication) }
    let moved = record.moved(to: step.flow)
    registrations[record.id] = moved
    changed(.code(record.id))
    return ApprovalResult(
      change: RegistrationChange(record: moved, actions: step.actions),
      authentication: authentication)
  }

  public func deny(
    _ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange {
    _ = try liveSession(session, at: now)
    let change = try apply(.deny(session), to: required(id), at: now)
    note(entry)
    return change
  }

  public func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange {
    let change = try apply(.withdraw(reason), to: required(id), at: now)
    note(entry)
    return change
  }

  public func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError) {
    for id in ids {
      guard let gone = registrations.removeValue(forKey: id) else { continue }
      changed(.code(id))
      if codes[gone.code] == id { codes[gone.code] = nil }
    }
  }

  public func registration(_ id: RegistrationID, at now: Instant) async throws(StoreError)
    -> RegistrationRecord?
  {
    registrations[id].flatMap { now < $0.flow.forgettable ? $0 : nil }
  }

  public func registrations(after id: RegistrationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [RegistrationRecord]
  {
    let remembered = registrations.values.filter { record in
      now < record.flow.forgettable && (id.map { $0 < record.id } ?? true)
    }
    return Array(remembered.sorted { $0.id < $1.id }.prefix(limit))
  }
}
