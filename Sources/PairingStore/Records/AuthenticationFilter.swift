public import RegentPairing

/// Which authentications a list is about; what is not said does not narrow it.
public struct AuthenticationFilter: Hashable, Sendable {
  /// One of them.
  public var id: AuthenticationID?
  /// Those of one requestor.
  public var requestor: RequestorID?
  /// Those of one device.
  public var device: DeviceHash?
  /// Those of one viewer.
  public var viewer: Viewer?
  /// Those of one provider's viewers.
  public var provider: ProviderID?
  /// Those whose viewer has this name, at whichever provider.
  public var account: AccountName?
  /// Those whose app gave this visitor id.
  public var visitorID: String?
  /// Those signed in at this moment or later.
  public var since: Instant?
  /// Those signed in earlier than this moment.
  public var before: Instant?

  public init(requestor: RequestorID? = nil, device: DeviceHash? = nil, viewer: Viewer? = nil) {
    self.requestor = requestor
    self.device = device
    self.viewer = viewer
  }

  /// Whether a record is meant.
  public func includes(_ record: AuthenticationRecord) -> Bool {
    let authentication = record.authentication
    return (id == nil || id == authentication.id)
      && (requestor == nil || requestor == authentication.requestor)
      && (device == nil || device == record.deviceHash)
      && (viewer == nil || viewer == authentication.viewer)
      && (provider == nil || provider == authentication.viewer.provider)
      && (account == nil || account == authentication.viewer.account)
      && (visitorID == nil || visitorID == record.about.visitorID)
      && (since.map { authentication.issued >= $0 } ?? true)
      && (before.map { authentication.issued < $0 } ?? true)
  }
}
