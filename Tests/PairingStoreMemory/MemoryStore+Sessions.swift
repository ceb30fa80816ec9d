public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func startSession(
    _ record: SessionRecord, replacing earlier: SessionID?, proved: String?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    if let refusal = signInRefusal(of: record.viewer) { throw .notInForce(refusal) }
    try requireStillPassword(proved, of: record.viewer)
    var changes: [RegistrationChange] = []
    if let earlier, earlier != record.id { changes += endSessions(at: now) { $0.id == earlier } }
    sessions[record.id] = record
    func endOldest(beyond most: Int, _ isMeant: (SessionRecord) -> Bool) {
      let others = sessions.values.filter { $0.viewer == record.viewer && $0.id != record.id && isMeant($0) }
        .sorted { ($1.lastUsed, $0.id) < ($0.lastUsed, $1.id) }
      let ended = Set(others.dropFirst(most - 1).map(\.id))
      changes += endSessions(at: now) { ended.contains($0.id) }
    }
    let isGuest = record.viewer.account == nil
    endOldest(beyond: SessionRecord.mostOfAccount) { !isGuest || $0.address == record.address }
    if isGuest { endOldest(beyond: SessionRecord.mostOfGuests) { _ in true } }
    return changes
  }

  public func session(_ token: TokenHash, at now: Instant) async throws(StoreError)
    -> SessionRecord?
  {
    guard let session = sessions.values.first(where: { $0.token == token }) else { return nil }
    return try? liveSession(session.id, at: now)
  }

  public func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError) {
    let session = try liveSession(id, at: now)
    guard now.since(session.lastUsed) >= SessionRecord.touchInterval else { return }
    sessions[id] = session.used(at: now)
  }

  public func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]?
  {
    guard sessions[id] != nil else { return nil }
    note(entry)
    return endSessions(at: now) { $0.id == id }
  }

  public func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError)
    -> [SessionRecord]
  {
    guard signInRefusal(of: viewer) == nil else { return [] }
    return sessions.values.filter { $0.viewer == viewer && $0.isValid(at: now) }
      .sorted { $0.id < $1.id }
  }

  public func sessions(after id: SessionID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [SessionRecord]
  {
    let inForce = sessions.values.filter { session in
      id.map { $0 < session.id } ?? true && session.isValid(at: now)
        && signInRefusal(of: session.viewer) == nil
    }
    return Array(inForce.sorted { $0.id < $1.id }.prefix(limit))
  }

  public func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures? {
    failures[subject]
  }

  public func recordLoginFailure(of subject: LoginSubject, at now: Instant)
    async throws(StoreError) -> LoginFailures
  {
    let after = LoginThrottle.adding(
      to: failures[subject] ?? (subject.inherits ? otherFailures : nil), at: now)
    failures[subject] = after
    return after
  }

  public func takeLoginTry(of subject: LoginSubject, free: Int, at now: Instant) async throws(StoreError) -> LoginTry? {
    let before = failures[subject]
    guard LoginThrottle.pause(after: before, free: free, at: now) == nil else { return nil }
    return LoginTry(before: before, after: try await recordLoginFailure(of: subject, at: now))
  }

  public func giveBack(_ counted: LoginTry, of subject: LoginSubject) async throws(StoreError) {
    failures[subject] = LoginThrottle.givingBack(counted, from: failures[subject])
  }

  public func clearLoginFailures(of subject: LoginSubject) async throws(StoreError) {
    failures[subject] = nil
  }
}
