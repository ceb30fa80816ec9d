public import RegentPairing

/// Permits, and the use of temporary passes.
public protocol PermitStore: Sendable {
  func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> PermitLookup

  /// Stores a permit, unless a valid one is nearly as good (``Permit/isWorthWriting(over:at:)``).
  ///
  /// Guarantees: the authentication exists and has not expired, and the permit does not outlive it. Simultaneous
  /// callers get the same permit. At most `most` permits are kept for one authentication: a new one replaces the
  /// oldest, and permits with a time in the future are replaced first.
  /// - Returns: the permit that is valid now.
  /// - Throws: `notFound`, `notInForce`.
  func record(_ permit: Permit, keeping most: Int, at now: Instant) async throws(StoreError) -> Permit

  /// Opens a resource with the temporary pass of an authentication, and stores the permit.
  ///
  /// Guarantees: the pass is looked up by device and by identity, and the uses of both count. The first opening starts
  /// the time of the pass. A resource counts once. Permit and authentication end with the pass. Simultaneous calls
  /// never open more different resources than the pass allows. The number of permits is limited as in
  /// ``record(_:keeping:at:)``.
  /// - Throws: `notFound`, `notInForce`, `pass`.
  func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, keeping most: Int, at now: Instant
  ) async throws(StoreError) -> Permit

  /// What has been used of a pass by the device and by the identity.
  func temporaryPass(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?
  ) async throws(StoreError) -> TemporaryPassUse

  /// The stored uses of passes, used up or not, sorted, from behind `last`.
  ///
  /// A nil requestor or provider stands for all.
  func temporaryPasses(
    requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int
  ) async throws(StoreError) -> [TemporaryPassRecord]

  /// Resets temporary passes, and ends the authentications and permits that they opened.
  ///
  /// - Returns: the number of deleted pass records.
  @discardableResult
  func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int
}

extension PermitStore {
  /// Keeps the usual number of permits.
  public func record(_ permit: Permit, at now: Instant) async throws(StoreError) -> Permit {
    try await record(permit, keeping: Permit.mostOfSignIn, at: now)
  }

  /// Keeps the usual number of permits.
  public func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant
  ) async throws(StoreError) -> Permit {
    try await openTemporarily(authentication, resource, keeping: Permit.mostOfSignIn, at: now)
  }
}

/// Which uses of temporary passes an operator resets.
public enum TemporaryPassReset: Hashable, Sendable {
  /// The uses of one device, with any identity.
  case device(DeviceHash)
  /// The uses of one identity, on any device.
  case identity(IdentityHash)
  /// All uses.
  case all
}
