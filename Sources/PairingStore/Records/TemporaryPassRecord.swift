public import RegentPairing

/// What a temporary pass was used with: one record per pair of device and identity, so that a reset of either half
/// leaves the others alone.
public struct TemporaryPassRecord: Hashable, Sendable {
  public let requestor: RequestorID
  public let provider: ProviderID
  /// The box.
  public let device: DeviceHash
  /// For whom it was, when the pass asks for that.
  public let identity: IdentityHash?
  /// What has been used.
  public let use: TemporaryPassUse

  /// A pass that was begun.
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

  /// Where it stands in lists.
  public var place: TemporaryPassCursor {
    TemporaryPassCursor(
      requestor: requestor, provider: provider, device: device, identity: identity)
  }
}

/// Where a pass stands in lists, which are in the order of these four.
public struct TemporaryPassCursor: Hashable, Comparable, Sendable {
  public let requestor: RequestorID
  public let provider: ProviderID
  /// The box.
  public let device: DeviceHash
  /// For whom; nobody in particular comes first.
  public let identity: IdentityHash?

  public init(
    requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?
  ) {
    self.requestor = requestor
    self.provider = provider
    self.device = device
    self.identity = identity
  }

  /// Whether it comes before another.
  public static func < (left: Self, right: Self) -> Bool {
    if left.requestor != right.requestor { return left.requestor < right.requestor }
    if left.provider != right.provider { return left.provider < right.provider }
    if left.device != right.device {
      return left.device.bytes.lexicographicallyPrecedes(right.device.bytes)
    }
    return (left.identity?.bytes ?? []).lexicographicallyPrecedes(right.identity?.bytes ?? [])
  }
}
