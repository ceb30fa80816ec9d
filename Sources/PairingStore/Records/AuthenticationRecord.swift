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

/// What a device is given when it asks whether it is signed in.
public struct PickUp: Hashable, Sendable {
  /// The device's authentication, which stands at this moment.
  public let record: AuthenticationRecord
  /// The code's delivery, when this was the first successful read: the phone's page waits for it.
  public let delivery: RegistrationChange?

  /// An authentication, perhaps with the delivery that this read was.
  public init(record: AuthenticationRecord, delivery: RegistrationChange?) {
    self.record = record
    self.delivery = delivery
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

/// Which authentications a list is about; what is not said does not narrow it.
public struct AuthenticationFilter: Hashable, Sendable {
  /// Those of one requestor.
  public var requestor: RequestorID?
  /// Those of one device.
  public var device: DeviceHash?
  /// Those of one viewer.
  public var viewer: Viewer?

  public init(requestor: RequestorID? = nil, device: DeviceHash? = nil, viewer: Viewer? = nil) {
    self.requestor = requestor
    self.device = device
    self.viewer = viewer
  }

  /// Whether a record is meant.
  public func includes(_ record: AuthenticationRecord) -> Bool {
    (requestor == nil || requestor == record.authentication.requestor)
      && (device == nil || device == record.deviceHash)
      && (viewer == nil || viewer == record.authentication.viewer)
  }
}
