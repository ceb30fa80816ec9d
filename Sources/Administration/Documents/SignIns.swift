public import RegentPairing

/// A device that is signed in at a requestor: what `device list` and `token list` show.
public struct SignIn: AdminDocument, Codable, Hashable {
  /// The authentication's id.
  public var id: AuthenticationID
  /// A short name for the device, made of a hash of its own id: what commands take.
  public var device: String
  /// The device's own id; anything may stand in it.
  public var deviceID: String
  /// The name that an operator gave.
  public var givenName: String?
  /// What the device says that it is called; anything may stand in it.
  public var name: String?
  /// For whose app.
  public var requestor: RequestorID
  /// The viewer's provider.
  public var provider: ProviderID
  /// The viewer; none when the sign-in is a guest's.
  public var account: AccountName?
  /// The viewer's household.
  public var household: HouseholdID?
  /// `regular`, `temporary` or `degraded`.
  public var source: String
  /// Since when.
  public var issued: Instant
  /// Until when.
  public var expires: Instant
  /// When the device last called; none when it has not since the service started.
  public var lastUsed: Instant?
  /// From where it called last, as far as that is known.
  public var address: String?
  /// The User-Agent of the sign-in; anything may stand in it.
  public var userAgent: String?
  /// What its app says besides.
  public var app: AppReport?
  /// The apps that are in by it, and end with it; none where lists do not look.
  public var apps: [BoxEntry.App]?

  private enum CodingKeys: String, CodingKey {
    case id, device
    case deviceID = "deviceId"
    case givenName, name, requestor, provider, account, household, source, issued, expires, lastUsed, address, userAgent
    case app, apps
  }

  public init(
    id: AuthenticationID, device: String, deviceID: String, requestor: RequestorID,
    provider: ProviderID, account: AccountName?, source: String, issued: Instant, expires: Instant
  ) {
    self.id = id
    self.device = device
    self.deviceID = deviceID
    self.requestor = requestor
    self.provider = provider
    self.account = account
    self.source = source
    self.issued = issued
    self.expires = expires
  }
}

/// A signed-in phone browser as lists show it.
public struct SessionEntry: AdminDocument, Codable, Hashable {
  /// Its id; not its cookie.
  public var id: SessionID
  /// The viewer's provider.
  public var provider: ProviderID
  /// The viewer.
  public var account: AccountName?
  /// When it signed in.
  public var started: Instant
  /// When it was last used, give or take five minutes.
  public var lastUsed: Instant
  /// When it ends if nobody uses it any more.
  public var expires: Instant
  /// From where it signed in.
  public var address: String?
  /// What the browser says of itself; anything may stand in it.
  public var userAgent: String?

  public init(
    id: SessionID, provider: ProviderID, account: AccountName?, started: Instant,
    lastUsed: Instant, expires: Instant, address: String? = nil, userAgent: String? = nil
  ) {
    self.id = id
    self.provider = provider
    self.account = account
    self.started = started
    self.lastUsed = lastUsed
    self.expires = expires
    self.address = address
    self.userAgent = userAgent
  }
}
