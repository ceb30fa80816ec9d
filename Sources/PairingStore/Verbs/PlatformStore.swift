public import RegentPairing

/// Boxes that hold an account for all their apps.
public protocol PlatformStore: Sendable {
  /// Keeps the key of a box; an earlier key of the same sign-in goes, so that a box that lost its key can make another.
  ///
  /// Guarantees: the sign-in stands at this moment.
  /// - Throws: `notInForce`, `notFound`.
  func enrol(_ box: BoxRecord, at now: Instant) async throws(StoreError)

  /// A box, if its sign-in is in force; whether it stands is not looked at.
  func box(_ id: BoxID, at now: Instant) async throws(StoreError) -> BoxRecord?

  /// Makes the box's account a sign-in of an app's.
  ///
  /// Guarantees, all of them at this moment and in one transaction: the request was not answered before; the box has
  /// that key; the box's own sign-in stands, and is at that provider; the viewer did not refuse the app; the
  /// integration is on, with single sign-on, not degraded; the provider takes part; the account stands. The new sign-in
  /// has the box's as its parent and never outlives it. A regular sign-in of the device that stands is left alone, and
  /// returned.
  /// - Throws: `exchange`, `notInForce`, `notFound`.
  func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> StandingSignIn

  /// Keeps what the viewer decided, or that an app asks, as ``PermissionChange`` says; the line of the audit log only
  /// when something changed.
  ///
  /// - Returns: whether it is the decision that holds now.
  /// - Throws: `notFound` when the box has decided about as many apps as are kept.
  func decide(
    _ decision: PlatformPermissionRecord, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Bool

  /// What was decided about the apps of a box.
  func decisions(of device: DeviceHash) async throws(StoreError) -> [PlatformPermissionRecord]

  /// The boxes whose sign-in is in force, in the order of their ids, with the apps that are in by them.
  func boxes(after id: BoxID?, limit: Int, at now: Instant) async throws(StoreError) -> [BoxOverview]

  /// The apps that are in by a box's sign-in.
  func children(of parent: AuthenticationID, at now: Instant) async throws(StoreError) -> [AuthenticationRecord]
}
