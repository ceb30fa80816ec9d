public import RegentPairing

/// The part of the store for permits (stored permissions to play a resource) and for the use of temporary passes.
public protocol PermitStore: Sendable {
  func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> PermitLookup

  /// Stores a permit, unless a valid stored permit is nearly as good (``Permit/isWorthWriting(over:at:)``).
  ///
  /// Guarantees: the authentication exists and has not expired, and the permit does not outlive it. Simultaneous
  /// callers get the same permit. At most `most` permits are kept for one authentication: a new one replaces the
  /// oldest, and permits with a time in the future are replaced first.
  /// - Returns: the permit that is valid now.
  /// - Throws: `notFound`, `notInForce`.
  func record(_ permit: Permit, keeping most: Int, at now: Instant) async throws(StoreError) -> Permit

  /// Uses the temporary pass of an authentication for a resource, and stores the permit.
  ///
  /// Guarantees: the pass is looked up by device and by identity, and the uses of both count. The first use for a
  /// resource starts the time of the pass. A resource counts once. Permit and authentication end with the pass.
  /// Simultaneous calls never open more different resources than the pass allows. The number of permits is limited as
  /// in ``record(_:keeping:at:)``.
  /// - Throws: `notFound`, `notInForce`, `pass`.
  func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, keeping most: Int, at now: Instant
  ) async throws(StoreError) -> Permit

  /// What the device and the identity have used of a temporary pass.
  func temporaryPass(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?
  ) async throws(StoreError) -> TemporaryPassUse

  /// Lists the stored uses of temporary passes after `last`, sorted, including passes that are used up.
  ///
  /// A nil requestor or provider stands for all.
  func temporaryPasses(
    requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int
  ) async throws(StoreError) -> [TemporaryPassRecord]

  /// Resets temporary passes, and ends the authentications and permits that devices got with them.
  ///
  /// - Returns: the number of deleted pass records.
  @discardableResult
  func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int
}

extension PermitStore {
  /// Stores a permit and keeps at most the default number of permits for its sign-in.
  public func record(_ permit: Permit, at now: Instant) async throws(StoreError) -> Permit {
    try await record(permit, keeping: Permit.mostOfSignIn, at: now)
  }

  /// Uses a temporary pass for a resource, and keeps at most the default number of permits for the given sign-in.
  public func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant
  ) async throws(StoreError) -> Permit {
    try await openTemporarily(authentication, resource, keeping: Permit.mostOfSignIn, at: now)
  }
}

/// Which records of used temporary passes an operator resets.
public enum TemporaryPassReset: Hashable, Sendable {
  /// Resets what one device has used of temporary passes, with any identity.
  case device(DeviceHash)
  /// Resets what one identity has used of temporary passes, on any device.
  case identity(IdentityHash)
  /// Resets all use of temporary passes.
  case all
}
