public import RegentPairing

/// A registration code in a list.
///
/// It is identified by its record's id, because the service stores only a hash of the code.
public struct CodeEntry: AdminDocument, Codable, Hashable {
  public var id: RegistrationID
  public var requestor: RequestorID
  /// The state of the code: `offered`, `opened`, `claimed`, `approved`, `delivered`, `denied`, `expired` or
  /// `withdrawn`.
  public var state: String
  public var generated: Instant
  public var expires: Instant
  /// The name that the device gives itself; untrusted text.
  public var device: String?
  /// The id that the device calls itself; untrusted text.
  public var deviceID: String
  /// The network address of the device's request.
  public var address: String?
  /// The provider that was preselected on the device.
  public var preselected: ProviderID?
  /// The provider of the viewer who claimed or approved the code.
  public var provider: ProviderID?
  /// The account of the viewer who claimed or approved the code.
  public var account: AccountName?
  /// What the app reports about itself and its viewer.
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

/// The viewer for whom an operator approves a code.
public struct CodeApproval: AdminDocument, Codable, Hashable {
  public let provider: ProviderID
  /// The viewer's account; nil at a temporary provider.
  public let account: AccountName?

  public init(provider: ProviderID, account: AccountName?) {
    self.provider = provider
    self.account = account
  }
}
