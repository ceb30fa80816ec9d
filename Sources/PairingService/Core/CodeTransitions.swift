package import RegentPairing
package import PairingStore

/// Changes codes: calls the store, and after the change is durable updates ``LiveCodes``, wakes held requests and
/// counts the event.
///
/// No other code may call these functions of the store, because ``LiveCodes`` would become stale; `OwnerTests` enforces
/// this. Devices, phone pages and the admin socket all use this type. Sign-ins have ``SignInTransitions``.
package struct CodeTransitions: Sendable {
  /// Rows deleted in one transaction: few enough that no request is noticeably delayed.
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

  /// Stores a new code and withdraws the device's earlier code.
  package func offer(_ record: RegistrationRecord, within limits: LiveCodeLimits) async throws(StoreError) {
    let signIns = codes.signIns
    let reservation = try await store.reserve(record, within: limits, at: clock.now)
    for change in reservation.withdrawn { settle(change, counting: .codesWithdrawn) }
    codes.add(record, hasEarlierSignIn: reservation.hasEarlierSignIn, asOf: signIns)
    metrics.count(.codesStarted)
    // Deletes here what `LiveCodes` evicted, so that the clients that create many codes also pay for their deletion. A
    // failure is ignored, because the next new code tries again.
    try? await forgetGiven(atLeast: Self.manyGiven)
  }

  /// Deletes from the store the codes that `LiveCodes` evicted before their end.
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

  /// Notes that a phone has opened the code's page.
  package func open(_ id: RegistrationID) async throws(StoreError) -> RegistrationRecord {
    try requireNotExpired(id)
    return settle(try await store.open(id, at: clock.now), counting: .codesOpened)
  }

  /// Lets a signed-in session claim the code, or confirms the claim that it has.
  package func claim(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    try requireNotExpired(id)
    return settle(try await store.claim(id, by: session, at: clock.now))
  }

  /// Extends the session's claim while its page is still open.
  package func renew(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    try requireNotExpired(id)
    return settle(try await store.renew(id, by: session, at: clock.now))
  }

  /// Gives the claim up: the viewer went back.
  package func release(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    settle(try await store.release(id, by: session, at: clock.now))
  }

  /// Approves the code, which is possible once.
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

  /// Denies the code.
  package func deny(_ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?)
    async throws(StoreError) -> RegistrationRecord
  {
    settle(
      try await store.deny(id, by: session, audit: entry, at: clock.now), counting: .codesDenied)
  }

  /// Withdraws the code.
  package func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?
  ) async throws(StoreError) -> RegistrationRecord {
    settle(
      try await store.withdraw(id, reason, audit: entry, at: clock.now), counting: .codesWithdrawn)
  }

  /// Throws when the code has expired in memory.
  ///
  /// The store decides by the wall clock. After a client was told that a code expired, the code must not become valid
  /// again when the wall clock is set back.
  private func requireNotExpired(_ id: RegistrationID) throws(StoreError) {
    if case .expired = codes.find(id)?.flow.state { throw .refused(.expired) }
  }

  /// Ends a browser's session and releases the codes that it had claimed.
  ///
  /// - Returns: false when there was no such session, as at the second of two taps on "sign out".
  @discardableResult
  package func endSession(_ id: SessionID, audit entry: AuditEntry?) async throws(StoreError) -> Bool {
    guard let changes = try await store.endSession(id, audit: entry, at: clock.now) else { return false }
    settle(changes)
    return true
  }

  /// Sets a password, ends the account's sessions except the one that asked, and releases the codes that they had
  /// claimed.
  package func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    settle(try await store.setPassword(phc, of: name, at: provider, by: whom, audit: entry, at: now))
  }

  /// Updates `LiveCodes` after changes that other functions of the store made: sessions that ended release their codes.
  package func settle(_ changes: [RegistrationChange]) {
    for change in changes { settle(change) }
  }

  /// Updates `LiveCodes` after one change, wakes held requests, and counts `event`.
  ///
  /// ``SignInTransitions`` uses it for deliveries.
  @discardableResult
  func settle(
    _ change: RegistrationChange, counting event: ServiceMetrics.Event? = nil, news: Waiters.End = .changed
  ) -> RegistrationRecord {
    codes.note(change.record)
    // A change without actions repeats an earlier call; it must not be counted twice.
    if let event, !change.actions.isEmpty { metrics.count(event) }
    for action in change.actions {
      switch action {
      case .wakeDevice: waiters.wake(.device, of: .code(change.record.id), with: news)
      case .wakePhone: waiters.wake(.phone, of: .code(change.record.id))
      // The store has written the authentication in the same transaction.
      case .createAuthentication: break
      }
    }
    return change.record
  }
}
