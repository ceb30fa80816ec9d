public import RegentPairing

public protocol AuthenticationStore: Sendable {
  /// Answers a device that asks whether it is signed in at a requestor.
  ///
  /// The first successful read of an approved code marks it as delivered.
  ///
  /// Guarantees: account, integration and row key are valid at this moment, and the result contains them as they were
  /// checked. Of any number of simultaneous reads one reports the delivery, and all return the same authentication.
  /// After the delivery a read writes nothing.
  ///
  /// A sign-in of another owner is neither returned nor delivered; a nil `owner` skips this check. `awaitsDelivery`
  /// says that the caller remembers an approved, undelivered code of the device; the store then writes without reading
  /// first. The result does not depend on it.
  /// - Throws: `notInForce` when the device has a sign-in that is not valid any more.
  func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp

  /// A sign-in by its id.
  ///
  /// Reading it does not count as a delivery.
  ///
  /// - Returns: nil when there is no such sign-in or it has expired.
  /// - Throws: `notInForce` when account, integration or row key are not valid any more.
  func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError) -> ValidSignIn?

  /// Signs a device in without a code: with a temporary pass or at a degraded provider.
  ///
  /// It ends an earlier authentication of the device at the requestor. Exception: a sign-in at a degraded provider does
  /// not replace a valid sign-in of another kind; that one is returned instead.
  ///
  /// Guarantees: the integration, the row key and the temporary pass (for a temporary provider) are valid at this
  /// moment. A temporary authentication ends when its pass ends.
  /// - Returns: the authentication as stored, with the records that make it valid.
  /// - Throws: `notInForce`, `pass`, `notFound`.
  func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant)
    async throws(StoreError) -> ValidSignIn

  /// Signs a device out at a requestor: deletes its authentication and all its permits.
  ///
  /// Does nothing, without an error, when there is none or when it belongs to another owner.
  ///
  /// - Returns: the authentications that ended.
  func signOut(requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Ends the authentications that an operator revokes, with their permits.
  ///
  /// - Returns: the authentications that ended.
  func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Ends sign-ins of an account that exceed its limit after a new one was made.
  ///
  /// - Returns: the authentications that ended. Each one has got a line in the audit log.
  func makeRoom(
    besides new: AuthenticationRecord, _ room: SignInRoom,
    audit line: @escaping @Sendable (AuthenticationRecord) -> AuditEntry, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord]

  /// The unexpired authentications, sorted by id.
  ///
  /// Accounts, integrations and row keys are not checked. An app's sign-in is left out when the box's sign-in that it
  /// depends on has ended or the viewer does not let the app use it any more.
  func authentications(
    _ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord]

  /// The number of boxes with an unexpired authentication, counted without verifying the rows, for the metrics.
  func countSignedInBoxes(at now: Instant) async throws(StoreError) -> Int

  /// Sets the name of a screen that a viewer or operator chose; nil removes it.
  func name(_ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// The names of those of these screens that have one.
  func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String]
}

extension AuthenticationStore {
  /// For reads by the service itself: does not compare owners.
  public func pickUp(
    requestor: RequestorID, device: DeviceHash, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    try await pickUp(requestor: requestor, device: device, of: nil, awaitsDelivery: awaitsDelivery, at: now)
  }

  /// For sign-outs by the service itself: does not compare owners.
  public func signOut(requestor: RequestorID, device: DeviceHash, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await signOut(requestor: requestor, device: device, of: nil, at: now)
  }
}
