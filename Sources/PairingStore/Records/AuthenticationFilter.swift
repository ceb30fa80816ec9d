public import RegentPairing

/// Selects authentications (stored sign-ins of devices) for a list.
///
/// A property that is nil does not restrict the result.
public struct AuthenticationFilter: Hashable, Sendable {
  public var id: AuthenticationID?
  public var requestor: RequestorID?
  public var device: DeviceHash?
  public var viewer: Viewer?
  /// Selects authentications of all viewers of this provider.
  public var provider: ProviderID?
  /// Selects authentications of accounts with this name, at any provider.
  public var account: AccountName?
  /// Selects authentications whose app sent this visitor id (an id of the app's analytics).
  public var visitorID: String?
  /// Selects authentications that were issued at this time or later.
  public var since: Instant?
  /// Selects authentications that were issued before this time.
  public var before: Instant?

  public init(requestor: RequestorID? = nil, device: DeviceHash? = nil, viewer: Viewer? = nil) {
    self.requestor = requestor
    self.device = device
    self.viewer = viewer
  }

  /// Whether the authentication passes every property of this filter that is set.
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
