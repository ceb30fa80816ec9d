public import RegentPairing

/// A registration code as lists show it: by the id of its record, because codes are kept as hashes.
public struct CodeEntry: AdminDocument, Codable, Hashable {
  /// The record's id.
  public var id: RegistrationID
  /// For whose app.
  public var requestor: RequestorID
  /// Where it is in its life: `offered`, `opened`, `claimed`, `approved`, `delivered`, `denied`, `expired`,
  /// `withdrawn`.
  public var state: String
  /// When it was created.
  public var generated: Instant
  /// When it ends.
  public var expires: Instant
  /// What the device says that it is called; anything may stand in it.
  public var device: String?
  /// The device's own id; anything may stand in it.
  public var deviceID: String
  /// From where the device called.
  public var address: String?
  /// The provider that was chosen on the device.
  public var preselected: ProviderID?
  /// The provider at which the viewer who has it, or had it, is signed in.
  public var provider: ProviderID?
  /// The viewer who has it, or had it.
  public var account: AccountName?
  /// What its app says besides.
  public var app: AppReport?

  private enum CodingKeys: String, CodingKey {
    case id, requestor, state, generated, expires, device
    case deviceID = "deviceId"
    case address, preselected, provider, account, app
  }

  public init(
    id: RegistrationID, requestor: RequestorID, state: String, generated: Instant,
    expires: Instant, device: String? = nil, deviceID: String, address: String? = nil,
    preselected: ProviderID? = nil, provider: ProviderID? = nil, account: AccountName? = nil,
    app: AppReport? = nil
  ) {
    self.id = id
    self.requestor = requestor
    self.state = state
    self.generated = generated
    self.expires = expires
    self.device = device
    self.deviceID = deviceID
    self.address = address
    self.preselected = preselected
    self.provider = provider
    self.account = account
    self.app = app
  }
}

/// Whom a code is approved for.
public struct CodeApproval: AdminDocument, Codable, Hashable {
  /// The viewer's provider.
  public let provider: ProviderID
  /// The viewer; none at a temporary provider.
  public let account: AccountName?

  public init(provider: ProviderID, account: AccountName?) {
    self.provider = provider
    self.account = account
  }
}
