package import RegentPairing
package import PairingStore

/// Creates, reads and ends sign-ins.
///
/// It calls the store, and after the change is durable it updates ``LiveCodes``, completes long polls, counts the event
/// and writes the audit lines that the store has not written.
///
/// No other code may call these functions of the store, because ``LiveCodes`` would become stale; `OwnerTests` enforces
/// this. A sign-in from a code begins with the code's approval, in ``CodeTransitions``.
package struct SignInTransitions: Sendable {
  private let store: any AuthenticationStore & PlatformStore & GrantStore
  private let codes: LiveCodes
  private let codeTransitions: CodeTransitions
  private let waiters: Waiters
  private let boxDecisions: BoxDecisions
  private let provisioning: ProvisioningCache
  private let lastUses: LastUseTimes
  private let metrics: ServiceMetrics
  private let audit: AuditTrail
  private let clock: ServiceClock
  private let mostOfAccount: Int
  private let deliveries = DeliveryRecorder()

  init(
    store: any AuthenticationStore & PlatformStore & GrantStore, codes: LiveCodes, codeTransitions: CodeTransitions,
    waiters: Waiters, boxDecisions: BoxDecisions, provisioning: ProvisioningCache, lastUses: LastUseTimes,
    metrics: ServiceMetrics, audit: AuditTrail, clock: ServiceClock, mostOfAccount: Int
  ) {
    self.store = store
    self.codes = codes
    self.codeTransitions = codeTransitions
    self.waiters = waiters
    self.boxDecisions = boxDecisions
    self.provisioning = provisioning
    self.lastUses = lastUses
    self.metrics = metrics
    self.audit = audit
    self.clock = clock
    self.mostOfAccount = mostOfAccount
  }

  /// Looks up the sign-in of a device that asks whether it is signed in.
  ///
  /// The first successful read marks the device's code as delivered.
  ///
  /// `owner` says which key pair signed the request, because a sign-in is shown only to its owner. It is nil when the
  /// service itself asks.
  package func pickUp(_ device: DeviceHash, at requestor: RequestorID, of owner: SignInOwner?) async throws(StoreError)
    -> PickUp
  {
    let before = codes.beforePickUp(of: device, at: requestor, by: owner)
    let pickUp = try await store.pickUp(
      requestor: requestor, device: device, of: owner, awaitsDelivery: before.awaitsDelivery, at: clock.now)
    switch pickUp {
    case .inForce(let signIn, let delivery):
      if let delivery { codeTransitions.settle(delivery, counting: .codesDelivered) }
      lastUses.note(signIn.authentication.id, at: clock.now)
      if let place = before.place { codes.noteSignIn(true, of: place, at: requestor, asOf: before.signIns) }
    case .none:
      if let place = before.place { codes.noteSignIn(false, of: place, at: requestor, asOf: before.signIns) }
    // Nothing is noted in ``LiveCodes``, which has no state for an expired sign-in. So every poll asks the store, and
    // the device is told "expired" until the row is deleted.
    case .expired: break
    case .ofAnother:
      // Nothing is noted in ``LiveCodes``: the device is signed in, but for another owner than the one that sent this
      // request.
      audit.note(
        .device(requestor), "device.refuse", device.shortName, .refused,
        detail: "the box called with another key pair than the one that signed it in", once: true)
    }
    return pickUp
  }

  /// Notes that ``pickUp(_:at:)`` found no sign-in, for a code that was loaded into memory after that call.
  ///
  /// `signIns` is the number of sign-ins without a code (``LiveCodes/signIns``) as read before that call.
  func noteNone(of device: DeviceHash, at requestor: RequestorID, asOf signIns: Int) {
    codes.noteSignIn(false, of: device, at: requestor, asOf: signIns)
  }

  /// Answers a long poll with the sign-in that the approval of its code has just created.
  ///
  /// Uses what the approval's transaction read and wrote, so the store is not asked again.
  ///
  /// The delivery is written a moment later, together with others. If the service crashes in between, the code is still
  /// approved, and the box's next poll is the delivery.
  ///
  /// - Returns: false when the sign-in or code has changed since; the caller then asks the store.
  func handOver(_ record: AuthenticationRecord, of code: RegistrationID) -> Bool {
    let now = clock.now
    // One of these conditions is false when the device was signed out, or its key revoked, after the approval.
    guard let known = codes.cached(code), known.hasEarlierSignIn == true,
      known.record.flow.state.approval?.authentication == record.authentication.id,
      record.authentication.isValid(at: now)
    else { return false }
    lastUses.note(record.authentication.id, at: now)
    deliveries.add(record) { due in
      // All deliveries are written at the same time, so that they share one transaction. A delivery that fails is
      // written at the box's next poll.
      await withTaskGroup(of: Void.self) { group in
        for record in due {
          group.addTask { _ = try? await pickUp(record.deviceHash, at: record.authentication.requestor, of: nil) }
        }
      }
    }
    return true
  }

  /// Signs a device in without a code, and completes its long polls.
  ///
  /// - Returns: the device's sign-in: the given one, or one that another request created a moment earlier.
  package func signIn(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError)
    -> ValidSignIn
  {
    let signIn = try await store.signInWithoutCode(record, at: now)
    noteChange(of: signIn.record, asked: record.deviceHash)
    guard signIn.authentication.id == record.authentication.id else { return signIn }
    let provider = record.authentication.viewer.provider
    metrics.letIn(at: provider)
    audit.note(
      .device(record.authentication.requestor), "device.sign-in", signIn.record.deviceHash.shortName,
      detail: "without a code, at provider \(provider), source \(record.authentication.source.rawValue)\(record.report)"
    )
    return signIn
  }

  /// Creates an app's sign-in from the box's account, and completes the long polls of the device.
  package func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> ValidSignIn {
    let signIn = try await store.exchange(exchange, at: now)
    noteChange(of: signIn.record, asked: exchange.deviceHash)
    guard signIn.authentication.id == exchange.authentication else { return signIn }
    metrics.letIn(at: exchange.provider)
    audit.note(
      .device(exchange.requestor), "device.sign-in", signIn.record.deviceHash.shortName,
      detail: "by the account of box \(exchange.box) at provider \(exchange.provider), for its app \(exchange.app)")
    await makeRoom(besides: signIn.record)
    return signIn
  }

  /// Ends the sign-ins of an account that exceed its limit, those unused for the longest time.
  ///
  /// Errors are ignored, so that the new sign-in succeeds anyway. The account's next sign-in then ends all that are too
  /// many.
  func makeRoom(besides new: AuthenticationRecord?) async {
    guard let new else { return }
    let (lastUses, audit, most) = (lastUses, audit, mostOfAccount)
    let ended = try? await store.makeRoom(
      besides: new, SignInRoom(most: most) { lastUses.of($0) },
      audit: { record in
        audit.entry(
          .service, "device.sign-out", record.deviceHash.shortName,
          detail: "\(record.authentication.viewer.title) signed in box \(new.deviceHash.shortName) and has more than "
            + "\(most) sign-ins: this box was unused for longest")
      }, at: clock.now)
    noteEnd(of: ended ?? [])
  }

  /// Notes that a device was signed in without its code, here or at another node, or was signed out at another node.
  ///
  /// The device's next poll then asks the store, and its long polls are completed.
  func noteChange(of device: DeviceHash, at requestor: RequestorID) {
    codes.noteSignIn(of: device, at: requestor)
    if let id = codes.latest(of: device, at: requestor)?.record.id { waiters.wake(.device, of: .code(id)) }
    tellBox(device, at: requestor)
  }

  /// Notes that a device was signed in without its code.
  ///
  /// The sign-in may be stored under its owner's separate hash and the device's code under the device's own, so both
  /// hashes are noted.
  private func noteChange(of signIn: AuthenticationRecord, asked device: DeviceHash) {
    let requestor = signIn.authentication.requestor
    noteChange(of: device, at: requestor)
    if signIn.deviceHash != device { noteChange(of: signIn.deviceHash, at: requestor) }
  }

  /// Asks the store about all devices with long polls of which it is not known whether they were signed in without
  /// their codes.
  ///
  /// Those that were signed in get their response; the others continue to wait.
  func lookAgainAtThoseHeld() async throws(StoreError) {
    var left = waiters.awaitedByDevices[...]
    while !left.isEmpty {
      // Reads that run at the same time share a transaction of the store.
      let failures = await withTaskGroup(of: StoreError?.self) { group in
        for subject in left.prefix(CodeRefresher.most) { group.addTask { await look(atHeld: subject) } }
        return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
      }
      if let failure = failures.first { throw failure }
      left = left.dropFirst(CodeRefresher.most)
    }
  }

  private func look(atHeld subject: Waiters.Subject) async -> StoreError? {
    guard case .code(let id) = subject, let known = codes.cached(id), known.hasEarlierSignIn == nil,
      known.record.flow.state.isPending, known.record.about.asked == nil
    else { return nil }
    let (device, requestor) = (known.record.deviceHash, known.record.requestor)
    do throws(StoreError) {
      if case .none = try await pickUp(device, at: requestor, of: nil) { return nil }
    } catch {
      guard case .notInForce = error else { return error }
    }
    noteChange(of: device, at: requestor)
    return nil
  }

  /// Completes the long poll in which a box waits for its viewer's decisions, because the box's sign-in has changed.
  private func tellBox(_ device: DeviceHash, at requestor: RequestorID) {
    if provisioning.now.requestor(requestor)?.isPlatform == true { boxDecisions.noteChange(of: device) }
  }

  /// Signs a device out at one requestor, at the device's own request.
  ///
  /// It does nothing when the device has no sign-in.
  ///
  /// - Returns: the sign-ins that ended.
  @discardableResult
  package func signOut(
    _ device: DeviceHash, at requestor: RequestorID, of owner: SignInOwner?
  ) async throws(StoreError) -> [AuthenticationRecord] {
    let ended = try await store.signOut(requestor: requestor, device: device, of: owner, at: clock.now)
    noteEnd(of: ended)
    guard !ended.isEmpty else { return ended }
    // A sign-out by the device writes its audit line here. Sign-outs by an operator or on the phone write theirs in the
    // store's transaction.
    audit.note(
      .device(requestor), "device.sign-out", device.shortName,
      detail: ended.map(\.authentication.viewer.title).joined(separator: ", "))
    return ended
  }

  /// Ends sign-ins on behalf of an operator, or of a viewer on the phone.
  ///
  /// - Returns: the sign-ins that ended.
  @discardableResult
  package func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    let ended = try await store.revoke(filter, audit: entry, at: entry.at)
    noteEnd(of: ended)
    return ended
  }

  /// Tells the codes and boxes in memory that the store has erased a viewer.
  package func settle(_ erased: ErasedRows) {
    codeTransitions.settle(erased.changes)
    noteEnd(of: erased.rows.signIns)
  }

  /// Ends grants of OAuth clients, together with the sign-ins that they use.
  ///
  /// - Returns: the sign-ins that ended.
  @discardableResult
  package func endGrants(_ filter: GrantFilter, audit entry: AuditEntry) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    let ended = try await store.endGrants(filter, audit: entry, at: entry.at)
    noteEnd(of: ended)
    return ended
  }

  /// Removes an OAuth client with its grants, and withdraws its pending codes, because an approval of such a code would
  /// sign no client in.
  package func removeClient(_ id: ClientID, audit entry: AuditEntry?) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    let ended = try await store.removeOAuthClient(id, audit: entry, at: clock.now)
    noteEnd(of: ended)
    await withdrawCodes(of: [id: codes.pendingOfClients()[id, default: []]])
    return ended
  }

  /// Withdraws the pending codes of OAuth clients that are no longer valid because their application was revoked.
  package func withdrawCodesOfEndedClients() async throws(StoreError) {
    var ended: [ClientID: [RegistrationID]] = [:]
    for (client, codes) in codes.pendingOfClients() where try await store.oauthClient(client) == nil {
      ended[client] = codes
    }
    await withdrawCodes(of: ended)
  }

  private func withdrawCodes(of clients: [ClientID: [RegistrationID]]) async {
    // Failures are ignored: a code that has just ended needs no withdrawal, and the store refuses the approval of any
    // other code, because its client is no longer valid.
    for code in clients.values.joined() { _ = try? await codeTransitions.withdraw(code, .operator, audit: nil) }
  }

  /// Notes that sign-ins ended, so that the next poll of each device asks the store which sign-ins it still has.
  private func noteEnd(of ended: [AuthenticationRecord]) {
    for record in ended {
      codes.noteSignIn(nil, of: record.deviceHash, at: record.authentication.requestor)
      tellBox(record.deviceHash, at: record.authentication.requestor)
    }
    metrics.count(.devicesSignedOut, ended.count)
  }
}
