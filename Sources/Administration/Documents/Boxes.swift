public import RegentPairing

/// A box that holds an account for its apps: what `platform list` shows.
public struct BoxEntry: AdminDocument, Codable, Hashable {
  /// An app that is in by the box's account.
  public struct App: Codable, Hashable, Sendable {
    /// What the box's owner calls it.
    public var name: String
    public var requestor: RequestorID
    /// Since when.
    public var issued: Instant
    public var expires: Instant

    public init(name: String, requestor: RequestorID, issued: Instant, expires: Instant) {
      self.name = name
      self.requestor = requestor
      self.issued = issued
      self.expires = expires
    }
  }

  /// What the viewer decided about an app.
  public struct Permission: Codable, Hashable, Sendable {
    public var app: String
    public var requestor: RequestorID
    /// `granted` or `denied`.
    public var permission: String
    public var decided: Instant

    public init(app: String, requestor: RequestorID, permission: String, decided: Instant) {
      self.app = app
      self.requestor = requestor
      self.permission = permission
      self.decided = decided
    }
  }

  /// What the box names itself by in its word.
  public var id: BoxID
  /// The short name of its device, which `device` commands take.
  public var device: String
  /// What the device says that it is called; anything may stand in it.
  public var name: String?
  /// The box maker's.
  public var requestor: RequestorID
  public var provider: ProviderID
  public var account: AccountName?
  /// Since when its key counts.
  public var enrolled: Instant
  /// When the box's sign-in ends, and with it those of its apps.
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
