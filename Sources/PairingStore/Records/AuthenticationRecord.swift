public import RegentPairing

/// The stored row of a signed-in device.
///
/// The row signature covers all columns. The column `public_key` holds ``rowKey``; `expires` holds the expiry of the
/// authentication.
public struct AuthenticationRecord: Hashable, Sendable {
  public internal(set) var authentication: Authentication
  /// The device id as the app sent it, for responses and lists.
  public let device: DeviceID
  /// The keyed hash of the device id, by which the row is found.
  public internal(set) var deviceHash: DeviceHash
  /// The keyed hash of the viewer's identity; set only for a temporary pass that requires an identity.
  public let identity: IdentityHash?
  /// The registration whose approval created this authentication; nil when the device signed in without a code.
  public let registration: RegistrationID?
  /// The requestor's key pair for signing database rows.
  ///
  /// Its secret signs this row.
  public let rowKey: PublicKey
  /// What the device reported about itself when it signed in.
  public private(set) var about: DeviceDescription

  public init(
    authentication: Authentication, device: DeviceID, deviceHash: DeviceHash,
    identity: IdentityHash? = nil, registration: RegistrationID? = nil, rowKey: PublicKey,
    about: DeviceDescription = DeviceDescription()
  ) {
    self.authentication = authentication
    self.device = device
    self.deviceHash = deviceHash
    self.identity = identity
    self.registration = registration
    self.rowKey = rowKey
    self.about = about
  }

  /// A copy that is stored under this hash; see ``SignInOwner``.
  public func stored(under hash: DeviceHash) -> AuthenticationRecord {
    var copy = self
    copy.deviceHash = hash
    return copy
  }

  /// The record with this visitor id; nil when the device has reported the same one before.
  public func reporting(visitorID: String) -> AuthenticationRecord? {
    guard about.visitorID != visitorID else { return nil }
    var changed = self
    changed.about.visitorID = visitorID
    return changed
  }
}

/// A device's valid sign-in with the records that make it valid, all read in one transaction.
///
/// Callers decide what the device may do from these copies. They need no second read, and no record can change between
/// the check and its use.
public struct ValidSignIn: Hashable, Sendable {
  public var record: AuthenticationRecord
  /// The viewer's account.
  ///
  /// It is nil for guests, and for sign-ins that the service gave without an account because the provider was out of
  /// order (degradation).
  public let account: Account?
  /// The enabled integration of the requestor with the provider.
  public let integration: Integration
  public let provider: Provider

  public init(
    record: AuthenticationRecord, account: Account?, integration: Integration, provider: Provider
  ) {
    self.record = record
    self.account = account
    self.integration = integration
    self.provider = provider
  }

  public var authentication: Authentication { record.authentication }
}

/// The result of looking up whether a device is signed in.
public enum PickUp: Hashable, Sendable {
  /// The device is signed in.
  ///
  /// `delivery` is set when this is the first successful read of an approved code: the phone's page waits for that read
  /// before it reports success.
  case inForce(ValidSignIn, delivery: RegistrationChange?)
  /// The sign-in has expired.
  ///
  /// Its row is kept for a while, so that the device learns that it expired.
  case expired(AuthenticationRecord)
  /// The device id is signed in, but for another owner (key pair or application) than the one that sent this request.
  ///
  /// The caller answers as if the device were not signed in.
  case ofAnother(AuthenticationSource)
  /// The device has no sign-in.
  case none
}

extension PickUp {
  public var signIn: ValidSignIn? { if case .inForce(let signIn, _) = self { signIn } else { nil } }

  /// The registration's change to "delivered", if this read caused it.
  public var delivery: RegistrationChange? {
    if case .inForce(_, let delivery) = self { delivery } else { nil }
  }
}

public struct PermitRecord: Hashable, Sendable {
  public let permit: Permit
  /// The key pair that signs this row, the same one that signs the row of the authentication.
  public let rowKey: PublicKey

  public init(permit: Permit, rowKey: PublicKey) {
    self.permit = permit
    self.rowKey = rowKey
  }
}

/// The result of looking up a permit: the stored permission of one sign-in for one resource.
public enum PermitLookup: Hashable, Sendable {
  case inForce(Permit)
  /// The permit has expired, and its row has not been deleted yet.
  case expired
  case none
}
