public import RegentPairing

/// A device's sign-in at a requestor, as `device list` and `token list` show it.
public struct SignInEntry: AdminDocument, Codable, Hashable {
  /// The id of the sign-in (of its authentication).
  public var id: AuthenticationID
  /// A short name of the device, made of a hash of the id that the device calls itself.
  ///
  /// Commands accept it.
  public var device: String
  /// The id that the device calls itself; untrusted text.
  public var deviceID: String
  /// The name that an operator gave the device.
  public var givenName: String?
  /// The name that the device gives itself; untrusted text.
  public var name: String?
  public var requestor: RequestorID
  public var provider: ProviderID
  /// The viewer's account; nil for a guest.
  public var account: AccountName?
  /// The viewer's household.
  public var household: HouseholdID?
  /// How the device was signed in: `regular`, `temporary` (with a temporary pass) or `degraded` (without an account,
  /// because the provider was out of order).
  public var source: String
  public var issued: Instant
  public var expires: Instant
  /// The time of the device's latest request; nil if it has sent none since the service started.
  public var lastUsed: Instant?
  /// The network address of the device, if known.
  public var address: String?
  /// The User-Agent of the sign-in; untrusted text.
  public var userAgent: String?
  /// What the app reports about itself and its viewer.
  public var app: AppReport?
  /// The apps that are signed in through this box and end with it; nil in lists, which do not contain them.
  public var apps: [BoxEntry.App]?
  /// Why the service refuses the requests of the device although the sign-in has not expired; nil if it does not.
  public var refusal: String?
  /// When the service began to refuse the requests, if the audit log says it; nil in lists.
  public var refusedSince: Instant?
  /// The results of the checks that decide whether the device may watch; nil in lists.
  public var findings: [Finding]?

  private enum CodingKeys: String, CodingKey {
    case id, device
    case deviceID = "deviceId"
    case givenName, name, requestor, provider, account, household, source, issued, expires, lastUsed, address, userAgent
    case app, apps, refusal, refusedSince, findings
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

/// A browser session of a phone, in a list.
public struct SessionEntry: AdminDocument, Codable, Hashable {
  /// The session's id, which is not its secret cookie.
  public var id: SessionID
  public var provider: ProviderID
  public var account: AccountName?
  /// When the browser signed in.
  public var started: Instant
  /// The time at which the session was last used; accurate to five minutes.
  public var lastUsed: Instant
  /// The time at which the session expires unless it is used before.
  public var expires: Instant
  /// The network address of the sign-in.
  public var address: String?
  /// The browser's User-Agent header; untrusted text.
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
