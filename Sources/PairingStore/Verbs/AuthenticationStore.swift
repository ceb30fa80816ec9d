public import RegentPairing

/// Devices that are signed in.
public protocol AuthenticationStore: Sendable {
  /// What a device gets that asks whether it is signed in at a requestor; the first successful read is the delivery.
  ///
  /// Guarantees: account, integration and row key stand at this moment, and the answer has them as they were looked at;
  /// of any number of reads at the same time, one reports the delivery, and all give the same authentication. Once
  /// delivered it writes nothing.
  ///
  /// With `awaitsDelivery` the caller says that it remembers an approved code of the device which nobody has read yet:
  /// a store need not look then before it writes. The answer never depends on it.
  /// A sign-in that does not belong to `owner` is neither read nor delivered; without an owner every one is.
  /// - Throws: `notInForce` when the device is signed in, and may not be any more.
  func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp

  /// One sign-in, if it is in force; looking at it is no delivery.
  ///
  /// - Returns: nothing when there is no such sign-in, or its time has run out.
  /// - Throws: `notInForce` when account, integration or row key do not stand any more.
  func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError) -> StandingSignIn?

  /// Signs a device in without a code: a temporary pass, a degraded provider, later a platform account.
  ///
  /// An earlier authentication of the device at the requestor ends with it. The integration, the row key and, for a
  /// temporary provider, the pass stand at this moment; a temporary authentication ends when its pass does. A degraded
  /// provider's takes the place of none that is in force and is not degraded: that one is returned.
  /// - Returns: the authentication as it was kept, with what it stands on.
  /// - Throws: `notInForce`, `pass`, `notFound`.
  func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant)
    async throws(StoreError) -> StandingSignIn

  /// Signs a device out at a requestor: its authentication and all its permits are gone. Nothing to do is no error, and
  /// a sign-in that does not belong to `owner` is nothing.
  ///
  /// - Returns: the authentications that ended.
  func signOut(requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Ends single authentications, with their permits: what an operator revokes.
  ///
  /// - Returns: those that there were.
  func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Ends the sign-ins of an account that are too many, now that it has a new one.
  ///
  /// - Returns: those that ended, each with its line in the audit log.
  func makeRoom(
    besides new: AuthenticationRecord, _ room: SignInRoom,
    audit line: @escaping @Sendable (AuthenticationRecord) -> AuditEntry, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord]

  /// The authentications that have not expired, in the order of their ids.
  ///
  /// Whether they stand is not looked at, but an app's is left out that ended with the box's, or with its viewer's yes.
  func authentications(
    _ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord]

  /// Gives a screen a name of the viewer's or operator's choice, or none.
  func name(_ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// The names that were given to some of these screens.
  func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String]
}

extension AuthenticationStore {
  /// What a device gets; the service asks for itself, and no owner is compared.
  public func pickUp(
    requestor: RequestorID, device: DeviceHash, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    try await pickUp(requestor: requestor, device: device, of: nil, awaitsDelivery: awaitsDelivery, at: now)
  }

  /// Signs a device out; the service does so for itself, and no owner is compared.
  public func signOut(requestor: RequestorID, device: DeviceHash, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await signOut(requestor: requestor, device: device, of: nil, at: now)
  }
}
