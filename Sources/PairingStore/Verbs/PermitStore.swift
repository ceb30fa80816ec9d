public import RegentPairing

/// Permits, and the temporary passes that permits use up.
public protocol PermitStore: Sendable {
  /// The permit for a resource: in force, expired, or none.
  func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> PermitLookup

  /// Keeps a permit, unless one is in force that is as good (``Permit/isWorthWriting(over:at:)``).
  ///
  /// Guarantees: the authentication exists and has not expired; the permit does not outlive it; callers at the same
  /// time get the same permit. Of one authentication `most` are kept: a new one takes the place of the oldest, and
  /// those from a time that has not come yet go first.
  /// - Returns: the permit that is in force now.
  /// - Throws: `notFound`, `notInForce`.
  func record(_ permit: Permit, keeping most: Int, at now: Instant) async throws(StoreError) -> Permit

  /// Opens a resource with the temporary pass of an authentication, and keeps the permit.
  ///
  /// Guarantees: the pass is looked up by device and by identity, and what either has used counts; the first opening
  /// starts its time; the resource counts once; permit and authentication end when the pass does. However many open at
  /// the same time, no more different resources are opened than the pass has. Permits are kept as
  /// ``record(_:keeping:at:)`` keeps them.
  /// - Throws: `notFound`, `notInForce`, `pass`.
  func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, keeping most: Int, at now: Instant
  ) async throws(StoreError) -> Permit

  /// What has been used of a pass, by a device or an identity.
  func temporaryPass(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?
  ) async throws(StoreError) -> TemporaryPassUse

  /// The passes that were begun and are remembered, used up or not, of one requestor or of all, at one provider or at
  /// all: those behind `last`, in order.
  func temporaryPasses(
    requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int
  ) async throws(StoreError) -> [TemporaryPassRecord]

  /// Lets passes begin anew, and ends what stands on them.
  ///
  /// - Returns: how many passes had been begun.
  @discardableResult
  func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int
}

extension PermitStore {
  /// Keeps a permit, of as many as are usually kept.
  public func record(_ permit: Permit, at now: Instant) async throws(StoreError) -> Permit {
    try await record(permit, keeping: Permit.mostOfSignIn, at: now)
  }

  /// Opens a resource with the temporary pass, and keeps as many permits as usual.
  public func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant
  ) async throws(StoreError) -> Permit {
    try await openTemporarily(authentication, resource, keeping: Permit.mostOfSignIn, at: now)
  }
}

/// Whose temporary pass begins anew.
public enum TemporaryPassReset: Hashable, Sendable {
  /// What one device has used, with whatever identity.
  case device(DeviceHash)
  /// What one identity has used, on whatever device.
  case identity(IdentityHash)
  /// Everybody's.
  case all
}
