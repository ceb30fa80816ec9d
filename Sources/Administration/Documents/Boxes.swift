public import RegentPairing

/// A box that shares its sign-in with apps, as `platform list` shows it.
public struct BoxEntry: AdminDocument, Codable, Hashable {
  /// An app that is signed in through the box.
  public struct App: Codable, Hashable, Sendable {
    /// The app's name on the box, given by the box's owner.
    public var name: String
    public var requestor: RequestorID
    /// When the app was signed in.
    public var issued: Instant
    public var expires: Instant

    public init(name: String, requestor: RequestorID, issued: Instant, expires: Instant) {
      self.name = name
      self.requestor = requestor
      self.issued = issued
      self.expires = expires
    }
  }

  /// A viewer's decision whether an app may use the box's account.
  public struct Permission: Codable, Hashable, Sendable {
    public var app: String
    public var requestor: RequestorID
    public var permission: String
    public var decided: Instant

    public init(app: String, requestor: RequestorID, permission: String, decided: Instant) {
      self.app = app
      self.requestor = requestor
      self.permission = permission
      self.decided = decided
    }
  }

  /// The id that the box puts into its assertions.
  public var id: BoxID
  /// The short name of the box's device, as the `device` commands take it.
  public var device: String
  /// The name that the device gives itself; untrusted text.
  public var name: String?
  /// The requestor of the box's maker.
  public var requestor: RequestorID
  public var provider: ProviderID
  public var account: AccountName?
  /// The time from which the box's key is accepted.
  public var enrolled: Instant
  /// When the box's sign-in ends, and with it the sign-ins of its apps.
  public var expires: Instant
  public var apps: [App]
  public var permissions: [Permission]

  public init(
    id: BoxID, device: String, name: String?, requestor: RequestorID, provider: ProviderID, account: AccountName?,
    enrolled: Instant, expires: Instant, apps: [App], permissions: [Permission]
  ) {
    self.id = id
    self.device = device
    self.name = name
    self.requestor = requestor
    self.provider = provider
    self.account = account
    self.enrolled = enrolled
    self.expires = expires
    self.apps = apps
    self.permissions = permissions
  }
}
