package import RegentPairing
package import PairingStore

/// Begins, picks up and ends sign-ins: calls the store's verb, and when that is durable keeps the memory right, wakes
/// who waits, counts, and writes down what the verb itself did not.
///
/// No other code calls these verbs, which `ArchitectureTests` hold: whoever did would leave the memory behind.
/// A sign-in that a code leads to begins with the code's approval, which is ``CodeTransitions``'.
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
  private let deliveries = Deliveries()

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

  /// What a device gets that asks whether it is signed in; the first read is the delivery of its code.
  ///
  /// - Parameters:
  ///   - device: the device that asks.
  ///   - requestor: whose sign-in it is.
  ///   - owner: whose key pair signed the call; nil for the service itself.
  /// - Returns: the sign-in, or why there is none.
  /// - Throws: what the store throws.
  package func pickUp(_ device: DeviceHash, at requestor: RequestorID, of owner: SignInOwner?) async throws(StoreError)
    -> PickUp
  {
    let before = codes.beforePickUp(of: device, at: requestor)
    let pickUp = try await store.pickUp(
      requestor: requestor, device: device, of: owner, awaitsDelivery: before.awaitsDelivery, at: clock.now)
    switch pickUp {
    case .inForce(let signIn, let delivery):
      if let delivery { codeTransitions.settle(delivery, counting: .codesDelivered) }
      lastUses.note(signIn.authentication.id, at: clock.now)
      codes.noteSignIn(true, of: device, at: requestor, asOf: before.signIns)
    case .none:
      codes.noteSignIn(false, of: device, at: requestor, asOf: before.signIns)
    // Memory has no word for it: the store goes on being asked, and the device being told, until the row is forgotten.
    case .expired: break
    case .ofAnother:
      // Memory is not told: the device is signed in for its owner.
      audit.note(
        .device(requestor), "device.refuse", device.shortName, .refused, detail: "its sign-in is another key pair's",
        once: true)
    }
    return pickUp
  }

  /// Notes that ``pickUp(_:at:)`` found nothing, for a code that memory has learned only after it; `signIns` are those
  /// of before it.
  func noteNone(of device: DeviceHash, at requestor: RequestorID, asOf signIns: Int) {
    codes.noteSignIn(false, of: device, at: requestor, asOf: signIns)
  }

  /// Tells a held poll of the sign-in that its code was approved with just now, from what that transaction looked up
  /// and wrote: the store need not be asked again.
  ///
  /// That the box has read it is a statement about what happened, not a promise: it is written a moment later, together
  /// with others. After a crash in between the code is approved still, and the box's next question is the delivery.
  ///
  /// - Returns: false when something has happened since; then the store tells.
  func handOver(_ record: AuthenticationRecord, of code: RegistrationID) -> Bool {
    let now = clock.now
    // Signed out since, or its key revoked: nobody knows then, or there is no such code any more.
    guard let known = codes.cached(code), known.hasEarlierSignIn == true,
      known.record.flow.state.approval?.authentication == record.authentication.id,
      record.authentication.isValid(at: now)
    else { return false }
    lastUses.note(record.authentication.id, at: now)
    deliveries.add(record) { due in
      // At the same time, so that they are one transaction. What fails is written when the box asks the next time.
      await withTaskGroup(of: Void.self) { group in
        for record in due {
          group.addTask { _ = try? await pickUp(record.deviceHash, at: record.authentication.requestor, of: nil) }
        }
      }
    }
    return true
  }

  /// Signs a device in without a code; a poll of it that is held has its answer.
  ///
  /// - Returns: the sign-in that the device has now: this one, or that of somebody who was quicker.
  package func signIn(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError)
    -> StandingSignIn
  {
    let signIn = try await store.signInWithoutCode(record, at: now)
    noteChange(of: record.deviceHash, at: record.authentication.requestor)
    guard signIn.authentication.id == record.authentication.id else { return signIn }
    let provider = record.authentication.viewer.provider
    metrics.letIn(at: provider)
    audit.note(
      .device(record.authentication.requestor), "device.sign-in", record.deviceHash.shortName,
      detail: "\(record.authentication.source.rawValue), at \(provider)\(record.report)")
    return signIn
  }

  /// Makes of the box's account a sign-in of an app's; a poll of it that is held has its answer.
  package func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> StandingSignIn {
    let signIn = try await store.exchange(exchange, at: now)
    noteChange(of: exchange.deviceHash, at: exchange.requestor)
    guard signIn.authentication.id == exchange.authentication else { return signIn }
    metrics.letIn(at: exchange.provider)
    audit.note(
      .device(exchange.requestor), "device.sign-in", exchange.deviceHash.shortName,
      detail: "platform, at \(exchange.provider), app \(exchange.app) of box \(exchange.box)")
    await makeRoom(besides: signIn.record)
    return signIn
  }

  /// Ends the sign-ins of an account that has more than it may have, those unused for longest first.
  ///
  /// Nothing that is made fails when this does: the next sign-in of the account ends all that are too many.
  func makeRoom(besides new: AuthenticationRecord?) async {
    guard let new else { return }
    let (lastUses, audit, most) = (lastUses, audit, mostOfAccount)
    let ended = try? await store.makeRoom(
      besides: new, SignInRoom(most: most) { lastUses.of($0) },
      audit: { record in
        audit.entry(
          .service, "device.sign-out", record.deviceHash.shortName,
          detail: "made room for \(new.deviceHash.shortName): \(record.authentication.viewer.title) has more than "
            + "\(most) sign-ins, and this one was unused for longest")
      }, at: clock.now)
    noteEnd(of: ended ?? [])
  }

  /// A device was signed in without its code, here or at another node, or out at another node: the store is asked next,
  /// and a poll that is held has its answer.
  func noteChange(of device: DeviceHash, at requestor: RequestorID) {
    codes.noteSignIn(of: device, at: requestor)
    if let id = codes.latest(of: device, at: requestor)?.record.id { waiters.wake(.device, of: .code(id)) }
    tellBox(device, at: requestor)
  }

  /// Looks at the devices whose polls are held, of which nobody knows whether they were signed in without their codes:
  /// such a one has its answer, and the others go on waiting.
  func lookAgainAtThoseHeld() async throws(StoreError) {
    var left = waiters.awaitedByDevices[...]
    while !left.isEmpty {
      // Reads that wait together share a transaction.
      let failures = await withTaskGroup(of: StoreError?.self) { group in
        for subject in left.prefix(CodeLooks.most) { group.addTask { await look(atHeld: subject) } }
        return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
      }
      if let failure = failures.first { throw failure }
      left = left.dropFirst(CodeLooks.most)
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

  /// A box that waits for decisions hears at once that its sign-in has ended.
  private func tellBox(_ device: DeviceHash, at requestor: RequestorID) {
    if provisioning.now.requestor(requestor)?.isPlatform == true { boxDecisions.noteChange(of: device) }
  }

  /// A device signs itself out at one requestor; without a sign-in there is nothing to do.
  ///
  /// - Returns: the sign-ins that there were.
  @discardableResult
  package func signOut(
    _ device: DeviceHash, at requestor: RequestorID, of owner: SignInOwner?
  ) async throws(StoreError) -> [AuthenticationRecord] {
    let ended = try await store.signOut(requestor: requestor, device: device, of: owner, at: clock.now)
    noteEnd(of: ended)
    guard !ended.isEmpty else { return ended }
    // As a sign-out by an operator or on the phone is written, whose verb takes the line with it.
    audit.note(
      .device(requestor), "device.sign-out", device.shortName,
      detail: ended.map(\.authentication.viewer.title).joined(separator: ", "))
    return ended
  }

  /// An operator or a viewer on the phone ends sign-ins.
  ///
  /// - Returns: those that there were.
  @discardableResult
  package func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    let ended = try await store.revoke(filter, audit: entry, at: entry.at)
    noteEnd(of: ended)
    return ended
  }

  /// Ends what clients were given, with the sign-ins that it stands on.
  ///
  /// - Returns: those that there were.
  @discardableResult
  package func endGrants(_ filter: GrantFilter, audit entry: AuditEntry) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    let ended = try await store.endGrants(filter, audit: entry, at: entry.at)
    noteEnd(of: ended)
    return ended
  }

  /// Removes a client with all that it was given, and takes its open codes back: a viewer's yes would be for nobody.
  package func removeClient(_ id: ClientID, audit entry: AuditEntry?) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    let ended = try await store.removeOAuthClient(id, audit: entry, at: clock.now)
    noteEnd(of: ended)
    await withdrawCodes(of: [id: codes.pendingOfClients()[id, default: []]])
    return ended
  }

  /// Takes the open codes back of clients that do not count any more, as their application was revoked.
  package func withdrawCodesOfEndedClients() async throws(StoreError) {
    var ended: [ClientID: [RegistrationID]] = [:]
    for (client, codes) in codes.pendingOfClients() where try await store.oauthClient(client) == nil {
      ended[client] = codes
    }
    await withdrawCodes(of: ended)
  }

  private func withdrawCodes(of clients: [ClientID: [RegistrationID]]) async {
    // One that ended in this moment needs nothing more, and one that cannot be written is refused when it is approved.
    for code in clients.values.joined() { _ = try? await codeTransitions.withdraw(code, .operator, audit: nil) }
  }

  /// Polls of these devices ask the store again: nobody knows what they have now.
  private func noteEnd(of ended: [AuthenticationRecord]) {
    for record in ended {
      codes.noteSignIn(nil, of: record.deviceHash, at: record.authentication.requestor)
      tellBox(record.deviceHash, at: record.authentication.requestor)
    }
    metrics.count(.devicesSignedOut, ended.count)
  }
}
