public import RegentPairing

public protocol AuthenticationStore: Sendable {
  /// Answers a device that asks whether it is signed in at a requestor.
  ///
  /// The first successful read of an approved code marks the code as delivered.
  ///
  /// Guarantees: account, integration and row key are valid at this moment, and the result contains them as they were
  /// checked. Of any number of simultaneous reads one reports the delivery, and all return the same authentication.
  /// After the delivery a read writes nothing.
  ///
  /// A sign-in of another owner is neither returned nor delivered; a nil `owner` skips this check. The owner's own may
  /// be stored under a separate hash (``SignInOwner``). `awaitsDelivery`
  /// says that the caller remembers an approved, undelivered code of the device. The store then starts with a write
  /// instead of a read, which saves time and does not change the result.
  /// - Throws: `notInForce` when the device has a sign-in that is not valid any more.
  func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp

  /// Reads a valid sign-in by its id.
  ///
  /// Reading it does not count as a delivery.
  ///
  /// - Returns: nil when the sign-in does not exist or has expired.
  /// - Throws: `notInForce` when account, integration or row key are not valid any more.
  func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError) -> ValidSignIn?

  /// Signs a device in without a code: with a temporary pass, or at a provider that is out of order (degradation).
  ///
  /// An earlier authentication of the device at the requestor ends. Exception: a sign-in that exists only because of
  /// degradation does not replace a valid sign-in of another kind. The valid one is returned instead.
  ///
  /// Guarantees: the integration, the row key and the temporary pass (for a temporary provider) are valid at this
  /// moment. A temporary authentication ends when its pass ends.
  /// - Returns: the authentication as stored, with the records that make it valid.
  /// - Throws: `notInForce`, `pass`, `notFound`.
  func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant)
    async throws(StoreError) -> ValidSignIn

  /// Signs a device out at a requestor: deletes its authentication and all its permits.
  ///
  /// Does nothing, and throws no error, when the device has no authentication or the authentication belongs to another
  /// owner.
  ///
  /// - Returns: the authentications that ended.
  func signOut(requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Ends the authentications that an operator or a viewer revokes, together with their permits.
  ///
  /// The audit entry is written only if an authentication ended: of two equal requests, only one is in the log.
  ///
  /// - Returns: the authentications that ended.
  func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Ends sign-ins of an account after a new one has exceeded the account's limit.
  ///
  /// - Returns: the authentications that ended. An audit line is written for each one.
  func makeRoom(
    besides new: AuthenticationRecord, _ room: SignInRoom,
    audit line: @escaping @Sendable (AuthenticationRecord) -> AuditEntry, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord]

  /// Lists the unexpired authentications, sorted by id.
  ///
  /// Accounts, integrations and row keys are not checked. An app's sign-in that depends on a box's sign-in is left out
  /// when the box's sign-in has ended, or when the viewer does not let the app use it any more.
  func authentications(
    _ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord]

  /// Counts boxes with an unexpired authentication for the metrics, without verifying the rows.
  func countSignedInBoxes(at now: Instant) async throws(StoreError) -> Int

  /// Replaces the visitor id that the device of a sign-in reported.
  ///
  /// - Returns: whether the sign-in exists and had another visitor id.
  func setVisitorID(_ visitorID: String, of id: AuthenticationID, at now: Instant) async throws(StoreError) -> Bool

  /// Sets the name that a viewer or operator chose for a screen; nil removes the name.
  ///
  /// The audit entry is written only if the name changed.
  func name(_ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// The names of these screens; screens without a name have no entry.
  func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String]
}

extension AuthenticationStore {
  /// Reads a sign-in on behalf of the service itself, whatever owner the sign-in has.
  public func pickUp(
    requestor: RequestorID, device: DeviceHash, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    try await pickUp(requestor: requestor, device: device, of: nil, awaitsDelivery: awaitsDelivery, at: now)
  }

  /// Signs a device out on behalf of the service itself, whatever owner its sign-in has.
  public func signOut(requestor: RequestorID, device: DeviceHash, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await signOut(requestor: requestor, device: device, of: nil, at: now)
  }
}
