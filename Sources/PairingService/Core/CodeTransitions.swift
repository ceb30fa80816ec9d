package import RegentPairing
package import PairingStore

/// Changes codes.
///
/// It calls the store, and after the change is durable it updates ``LiveCodes``, completes long polls and counts the
/// event.
///
/// No other code may call these functions of the store, because ``LiveCodes`` would become stale; `OwnerTests` enforces
/// this. Devices, phone pages and the admin socket all use this type. Sign-ins have ``SignInTransitions``.
package struct CodeTransitions: Sendable {
  /// The number of evicted codes that one transaction deletes: few enough that no request is noticeably delayed.
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

  /// Stores a new code and withdraws the code that its device had before.
  ///
  /// - Returns: the registration as stored; see ``SignInOwner``.
  @discardableResult
  package func offer(
    _ record: RegistrationRecord, within limits: LiveCodeLimits
  ) async throws(StoreError) -> RegistrationRecord {
    let signIns = codes.signIns
    let reservation = try await store.reserve(record, within: limits, at: clock.now)
    for change in reservation.withdrawn { settle(change, counting: .codesWithdrawn) }
    codes.add(reservation.record, hasEarlierSignIn: reservation.hasEarlierSignIn, asOf: signIns)
    metrics.count(.codesStarted)
    // Deletes the codes that `LiveCodes` evicted. The requests for new codes do this work, so that it delays the
    // clients that create many codes. A failure is ignored, because the next new code tries again.
    try? await forgetGiven(atLeast: Self.manyGiven)
    return reservation.record
  }

  /// Deletes from the store the codes that `LiveCodes` has evicted to limit its memory.
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

  /// Records that a phone has opened the code's page.
  package func open(_ id: RegistrationID) async throws(StoreError) -> RegistrationRecord {
    try requireNotExpired(id)
    return settle(try await store.open(id, at: clock.now), counting: .codesOpened)
  }

  /// Lets a signed-in session claim a code, or confirms the claim that the session has.
  package func claim(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    try requireNotExpired(id)
    return settle(try await store.claim(id, by: session, at: clock.now))
  }

  /// Extends a session's claim on a code while the viewer's page is still open.
  package func renew(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    try requireNotExpired(id)
    return settle(try await store.renew(id, by: session, at: clock.now))
  }

  /// Ends a session's claim on a code, because the viewer went back.
  package func release(_ id: RegistrationID, by session: SessionID) async throws(StoreError)
    -> RegistrationRecord
  {
    settle(try await store.release(id, by: session, at: clock.now))
  }

  /// Approves a code.
  ///
  /// Only the first approval of a code succeeds.
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

  /// Denies a code on behalf of the viewer whose session has claimed it.
  package func deny(_ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?)
    async throws(StoreError) -> RegistrationRecord
  {
    settle(
      try await store.deny(id, by: session, audit: entry, at: clock.now), counting: .codesDenied)
  }

  /// Withdraws a code, so that it cannot be approved any more.
  package func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?
  ) async throws(StoreError) -> RegistrationRecord {
    settle(
      try await store.withdraw(id, reason, audit: entry, at: clock.now), counting: .codesWithdrawn)
  }

  /// Throws when the service has already told a client that the code has expired.
  ///
  /// The store decides by the wall clock. Without this check, the code would become valid again if the wall clock were
  /// set back.
  private func requireNotExpired(_ id: RegistrationID) throws(StoreError) {
    if case .expired = codes.find(id)?.flow.state { throw .refused(.expired) }
  }

  /// Ends a browser's session and its claims on codes.
  ///
  /// - Returns: false when there was no such session, as at the second of two taps on "sign out".
  @discardableResult
  package func endSession(_ id: SessionID, audit entry: AuditEntry?) async throws(StoreError) -> Bool {
    guard let changes = try await store.endSession(id, audit: entry, at: clock.now) else { return false }
    settle(changes)
    return true
  }

  /// Sets a password, and ends the account's sessions except the one that made the request, together with their claims
  /// on codes.
  package func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    settle(try await store.setPassword(phc, of: name, at: provider, by: whom, audit: entry, at: now))
  }

  /// Updates the codes in memory after a function of the store has changed codes indirectly.
  ///
  /// An example is the end of a session, which also ends the session's claims on codes.
  package func settle(_ changes: [RegistrationChange]) {
    for change in changes { settle(change) }
  }

  /// Updates the codes in memory after one change, completes long polls, and counts `event`.
  ///
  /// ``SignInTransitions`` uses it for deliveries.
  @discardableResult
  func settle(
    _ change: RegistrationChange, counting event: ServiceMetrics.Event? = nil, news: Waiters.End = .changed
  ) -> RegistrationRecord {
    codes.note(change.record)
    // A change without actions is the result of a repeated call, so it must not be counted twice.
    if let event, !change.actions.isEmpty { metrics.count(event) }
    for action in change.actions {
      switch action {
      case .wakeDevice: waiters.wake(.device, of: .code(change.record.id), with: news)
      case .wakePhone: waiters.wake(.phone, of: .code(change.record.id))
      // Nothing is left to do: the store has written the authentication in the same transaction.
      case .createAuthentication: break
      }
    }
    return change.record
  }
}
