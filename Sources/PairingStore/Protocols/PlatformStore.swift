public import RegentPairing

/// The part of the store for boxes whose signed-in account signs their apps in (single sign-on).
public protocol PlatformStore: Sendable {
  /// Stores the public key that a box enrols for single sign-on.
  ///
  /// Guarantees: the box's sign-in is valid at this moment. A sign-in has one key, the first one. So another program
  /// that knows the device id cannot replace the box's key, and a box that lost its key must be paired again.
  ///
  /// - Returns: the box with the sign-in's key: this one, or the one that was enrolled before.
  /// - Throws: `notInForce`, `notFound`.
  @discardableResult
  func enrol(_ box: BoxRecord, at now: Instant) async throws(StoreError) -> BoxRecord

  /// Reads a box whose sign-in has not ended.
  ///
  /// Account, integration and row key are not checked.
  func box(_ id: BoxID, at now: Instant) async throws(StoreError) -> BoxRecord?

  /// Reads the box whose key was registered with this sign-in; nil before it registers a key.
  func box(of authentication: AuthenticationID) async throws(StoreError) -> BoxRecord?

  /// Exchanges a box's assertion for an app's sign-in.
  ///
  /// Guarantees, in one transaction: the request was not answered before. The box has the key that signed the
  /// assertion, and its own sign-in is valid and at the requested provider. The viewer did not refuse the app. The
  /// integration is enabled, allows single sign-on and is not in degradation. The provider supports single sign-on, and
  /// the account is valid.
  ///
  /// The new sign-in depends on the box's sign-in and does not outlive it. If the device has a valid regular sign-in,
  /// that one is left unchanged and returned.
  /// - Throws: `exchange`, `notInForce`, `notFound`.
  func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> ValidSignIn

  /// Stores a viewer's decision about an app on a box, or the question of the app, by the rules of
  /// ``PermissionChange``.
  ///
  /// The audit line is written only when the decision changes. A decision that the box signed (`signed`) counts once:
  /// in one transaction its id is stored, and the store ignores a decision whose id it has.
  ///
  /// - Returns: whether this decision is the valid one now.
  /// - Throws: `notFound` when the box already has the maximum number of decisions.
  func decide(
    _ decision: PlatformPermissionRecord, signed: UsedText?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Bool

  /// The viewer's decisions about the apps of a box.
  func decisions(of device: DeviceHash) async throws(StoreError) -> [PlatformPermissionRecord]

  /// Lists the boxes with an unexpired sign-in, sorted by id, with the apps that are signed in through them.
  func boxes(after id: BoxID?, limit: Int, at now: Instant) async throws(StoreError) -> [BoxOverview]

  /// Lists the sign-ins of apps that depend on this sign-in of a box.
  func children(of parent: AuthenticationID, at now: Instant) async throws(StoreError) -> [AuthenticationRecord]
}
