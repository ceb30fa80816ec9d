public import RegentPairing

/// What one device with one identity has used of a temporary pass.
///
/// Each such pair has a record, so that resetting one device or one identity does not affect others.
public struct TemporaryPassRecord: Hashable, Sendable {
  public let requestor: RequestorID
  public let provider: ProviderID
  public let device: DeviceHash
  /// The hash of the viewer's identity, if the temporary pass requires one.
  public let identity: IdentityHash?
  public let use: TemporaryPassUse

  public init(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?,
    use: TemporaryPassUse
  ) {
    self.requestor = requestor
    self.provider = provider
    self.device = device
    self.identity = identity
    self.use = use
  }

  /// The record's position in a sorted list of temporary passes.
  public var place: TemporaryPassCursor {
    TemporaryPassCursor(
      requestor: requestor, provider: provider, device: device, identity: identity)
  }
}

/// A position in a list of temporary passes.
///
/// Lists are sorted by the four values of this type.
public struct TemporaryPassCursor: Hashable, Comparable, Sendable {
  public let requestor: RequestorID
  public let provider: ProviderID
  public let device: DeviceHash
  /// The hash of the viewer's identity.
  ///
  /// Nil sorts before every identity.
  public let identity: IdentityHash?

  public init(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?
  ) {
    self.requestor = requestor
    self.provider = provider
    self.device = device
    self.identity = identity
  }

  public static func < (left: Self, right: Self) -> Bool {
    if left.requestor != right.requestor { return left.requestor < right.requestor }
    if left.provider != right.provider { return left.provider < right.provider }
    if left.device != right.device {
      return left.device.bytes.lexicographicallyPrecedes(right.device.bytes)
    }
    return (left.identity?.bytes ?? []).lexicographicallyPrecedes(right.identity?.bytes ?? [])
  }
}
