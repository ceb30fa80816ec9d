package import RegentPairing
package import PairingStore

/// Changes codes: calls the store's verb, and when that is durable keeps the memory right, wakes who waits and counts.
///
/// No other code calls these verbs, which `ArchitectureTests` hold: whoever did would leave the memory behind.
/// Devices, the phone's pages and the admin socket all come through here. Sign-ins have ``SignInTransitions``.
package struct CodeTransitions: Sendable {
  /// Rows for one transaction: short enough that no answer waits for it noticeably.
  private static let manyGiven = 60
  private let store: any Store
  private let codes: LiveCodes
  private let waiters: Waiters
  private let metrics: ServiceMetrics
  private let clock: ServiceClock

  init(
    store: any Store, codes: LiveCodes, waiters: Waiters, metrics: ServiceMetrics,
    clock: ServiceClock
  ) {
    self.store = store
    self.codes = codes
    self.waiters = waiters
    self.metrics = metrics
    self.clock = clock
  }

  /// Keeps a new code; the device's earlier one is withdrawn with it.
  package func offer(_ record: RegistrationRecord, within limits: LiveCodeLimits) async throws(StoreError) {
    let signIns = codes.signIns
    let reservation = try await store.reserve(record, within: limits, at: clock.now)
    for change in reservation.withdrawn { settle(change, counting: .codesWithdrawn) }
    codes.add(record, hasEarlierSignIn: reservation.hasEarlierSignIn, asOf: signIns)
    metrics.count(.codesStarted)
    // Whoever brings many in takes the trouble of getting them out; when that fails, the next one tries again.
    try? await forgetGiven(atLeast: Self.manyGiven)
  }

  /// Lets the store forget the codes that memory has let go before their time.
  package func forgetGiven(atLeast count: Int = 1) async throws(StoreError) {
    var given = codes.takeGiven(atLeast: count)[...]
    while !given.isEmpty {
      do throws(StoreError) {
        try await store.forgetCodes(Array(given.prefix(Self.manyGiven)))
      } catch {
        codes.giveBack(Array(given))
        throw error
      }
      given = given.dropFirst(Self.manyGiven)
    }
  }

  /// The phone's page is there.
  package func open(_ id: RegistrationID) async throws(StoreError) -> RegistrationRecord {
    try requireNotExpired(id)
    return settle(try await store.open(id, at: clock.now), counting: .codesOpened)
  }

  /// A signed-in session takes the code, or keeps it.
  package func claim(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    try requireNotExpired(id)
    return settle(try await store.claim(id, by: session, at: clock.now))
  }

  /// The page that holds the claim is still looked at.
  package func renew(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    try requireNotExpired(id)
    return settle(try await store.renew(id, by: session, at: clock.now))
  }

  /// The viewer went back.
  package func release(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    settle(try await store.release(id, by: session, at: clock.now))
  }

  /// A yes: redeems the code, once.
  package func approve(
    _ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?
  ) async throws(StoreError) -> ApprovalResult {
    let now = clock.now
    guard codes.beginApproval(of: id, at: now) else { throw .refused(.expired) }
    defer { codes.endApproval(of: id) }
    let result = try await store.approve(id, request, audit: entry, at: now)
    let flow = result.change.record.flow
    if let approval = flow.state.approval, result.authentication != nil {
      metrics.approved(after: now.since(flow.issued), at: approval.viewer.provider)
    }
    settle(
      result.change, counting: result.authentication == nil ? .codesDenied : nil,
      news: result.authentication.map { .approved($0) } ?? .changed)
    return result
  }

  /// A no.
  package func deny(_ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?)
    async throws(StoreError) -> RegistrationRecord
  {
    settle(
      try await store.deny(id, by: session, audit: entry, at: clock.now), counting: .codesDenied)
  }

  /// The code is taken back.
  package func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?
  ) async throws(StoreError) -> RegistrationRecord {
    settle(
      try await store.withdraw(id, reason, audit: entry, at: clock.now), counting: .codesWithdrawn)
  }

  /// The store asks the clock; whoever was told that a code has expired must not see it come back when the clock is set
  /// back.
  private func requireNotExpired(_ id: RegistrationID) throws(StoreError) {
    if case .expired = codes.find(id)?.flow.state { throw .refused(.expired) }
  }

  /// Ends a browser's session; what it had claimed is free again.
  ///
  /// - Returns: whether there was one: of two taps on "sign out" the second finds nothing to do.
  @discardableResult
  package func endSession(_ id: SessionID, audit entry: AuditEntry?) async throws(StoreError) -> Bool {
    guard let changes = try await store.endSession(id, audit: entry, at: clock.now) else { return false }
    settle(changes)
    return true
  }

  /// Another password: the account's sessions end, but for the one that asked, and give their codes back.
  package func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    settle(try await store.setPassword(phc, of: name, at: provider, by: whom, audit: entry, at: now))
  }

  /// Makes the memory agree with changes that other verbs brought about: sessions that ended give codes back.
  package func settle(_ changes: [RegistrationChange]) {
    for change in changes { settle(change) }
  }

  /// The same for one change, with what it counts as: ``SignInTransitions`` tells of deliveries.
  @discardableResult
  func settle(
    _ change: RegistrationChange, counting event: ServiceMetrics.Event? = nil, news: Waiters.End = .changed
  ) -> RegistrationRecord {
    codes.note(change.record)
    // Without an action nothing visible happened: a repeated verb is not counted twice.
    if let event, !change.actions.isEmpty { metrics.count(event) }
    for action in change.actions {
      switch action {
      case .wakeDevice: waiters.wake(.device, of: .code(change.record.id), with: news)
      case .wakePhone: waiters.wake(.phone, of: .code(change.record.id))
      // The store has written it, in the same transaction.
      case .createAuthentication: break
      }
    }
    return change.record
  }
}
