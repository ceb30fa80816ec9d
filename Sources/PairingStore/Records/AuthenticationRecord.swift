public import RegentPairing

/// The row of a signed-in device.
///
/// Signed columns: all of them; `public_key` is ``rowKey``, `expires` the authentication's own.
public struct AuthenticationRecord: Hashable, Sendable {
  /// What it says.
  public internal(set) var authentication: Authentication
  /// The device, to be echoed and listed.
  public let device: DeviceID
  /// The device, to be found.
  public let deviceHash: DeviceHash
  /// The identity of a promotional pass.
  public let identity: IdentityHash?
  /// The code it came from; none when it came without one.
  public let registration: RegistrationID?
  /// The key pair of the requestor that signs this row.
  public let rowKey: PublicKey
  /// What the device said of itself then.
  public let about: DeviceDescription

  /// A signed-in device with all that is kept of it.
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
}

/// A device's sign-in that stands at this moment, and what it stands on, all as one transaction read it.
///
/// Whoever decides what the device may do decides by these, so that nothing is read a second time and nothing can
/// change between the check and its use.
public struct StandingSignIn: Hashable, Sendable {
  public var record: AuthenticationRecord
  /// The viewer's account; none for guests and degraded sign-ins.
  public let account: Account?
  /// How the provider works with the requestor; it is enabled.
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

/// What a device is told when it asks whether it is signed in.
public enum PickUp: Hashable, Sendable {
  /// It is; with the code's delivery, when this was the first successful read: the phone's page waits for that.
  case inForce(StandingSignIn, delivery: RegistrationChange?)
  /// It was: the sign-in has run out of time and is remembered for a while.
  case expired(AuthenticationRecord)
  /// The device id is signed in, and the sign-in belongs to another key pair: for the caller there is none.
  case ofAnother(AuthenticationSource)
  /// It is not.
  case none
}

extension PickUp {
  /// The sign-in that is in force, if one is.
  public var signIn: StandingSignIn? { if case .inForce(let signIn, _) = self { signIn } else { nil } }

  /// The delivery that this read was, if it was one.
  public var delivery: RegistrationChange? {
    if case .inForce(_, let delivery) = self { delivery } else { nil }
  }
}

/// The row of a permit.
public struct PermitRecord: Hashable, Sendable {
  /// What it says.
  public let permit: Permit
  /// The key pair that signs this row: that of its authentication.
  public let rowKey: PublicKey

  public init(permit: Permit, rowKey: PublicKey) {
    self.permit = permit
    self.rowKey = rowKey
  }
}

/// What a device has for a resource.
public enum PermitLookup: Hashable, Sendable {
  /// A permit that counts.
  case inForce(Permit)
  /// One that counted, and is remembered for a while.
  case expired
  /// None.
  case none
}
