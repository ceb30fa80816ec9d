public import RegentPairing

/// The response of `config`: a requestor and its providers.
public struct ConfigDocument: WireDocument, Hashable {
  public static let root = XMLRoot("config")

  /// The type of the requesting device.
  public var device: String
  /// The type of the requesting client.
  public var clientType: String
  /// The operating system of the requesting device.
  public var operatingSystem: String
  public var requestor: String
  public var name: String
  public var domains: [String]
  /// Whether the requestor's apps may read the device id (an extension of Regent, written only if true).
  public var exposesDeviceID: Bool
  /// The providers in the order in which to show them.
  public var providers: [ListedProvider]

  public init(
    device: String = "unknown", clientType: String = "unknown",
    operatingSystem: String = "unknown", requestor: String, name: String, domains: [String],
    exposesDeviceID: Bool = false, providers: [ListedProvider]
  ) {
    self.device = device
    self.clientType = clientType
    self.operatingSystem = operatingSystem
    self.requestor = requestor
    self.name = name
    self.domains = domains
    self.exposesDeviceID = exposesDeviceID
    self.providers = providers
  }

  public func write(to sink: inout some DocumentSink) {
    sink.text("device", device)
    sink.text("clientType", clientType)
    sink.text("os", operatingSystem)
    sink.object("requestor") { sink in
      sink.text("id", requestor)
      sink.text("name", name)
      sink.objects("domains", item: "domain", domains) { sink, domain in
        sink.text("name", domain)
        sink.flag("mvpdInitiated", false)
      }
      if exposesDeviceID { sink.flag("exposeDeviceId", true) }
      sink.objects("mvpds", item: "mvpd", providers) { $1.write(to: &$0) }
    }
  }
}

/// One provider in the response of `config`.
public struct ListedProvider: Hashable, Sendable {
  public var id: String
  /// The name that viewers see.
  public var displayName: String
  /// The address of the provider's logo.
  public var logoURL: String?
  public var isTemporaryPass: Bool
  /// Whether the provider supports the box's shared account (the platform account).
  public var boarding: BoardingStatus
  /// The provider's id in the list of providers of the box's shared account (the platform).
  public var platformID: String?
  /// Whether the requestor's apps may sign in with this provider through the box's shared account.
  public var enablesPlatformServices: Bool
  /// Whether provider pickers show this provider first (an extension of Regent).
  public var isFeatured: Bool
  /// Whether the provider's sign-in pages need a browser sheet that the app cannot look into (an extension of Regent).
  public var wantsSecureSheet: Bool
  /// Whether the provider is a promotional pass, for which the app must send the viewer's identity, such as an e-mail
  /// address (an extension of Regent, written only if true).
  public var wantsIdentity: Bool

  public init(
    id: String, displayName: String, logoURL: String? = nil, isTemporaryPass: Bool = false,
    boarding: BoardingStatus = .none, platformID: String? = nil,
    enablesPlatformServices: Bool = false, isFeatured: Bool = false, wantsSecureSheet: Bool = false,
    wantsIdentity: Bool = false
  ) {
    self.id = id
    self.displayName = displayName
    self.logoURL = logoURL
    self.isTemporaryPass = isTemporaryPass
    self.boarding = boarding
    self.platformID = platformID
    self.enablesPlatformServices = enablesPlatformServices
    self.isFeatured = isFeatured
    self.wantsSecureSheet = wantsSecureSheet
    self.wantsIdentity = wantsIdentity
  }

  func write(to sink: inout some DocumentSink) {
    sink.text("id", id)
    sink.text("displayName", displayName)
    sink.text("logoUrl", ifKnown: logoURL)
    // A temporary pass belongs to one app and must not be shared with other apps, as the protocol requires.
    sink.flag("authPerAggregator", isTemporaryPass)
    sink.flag("isTempPass", isTemporaryPass)
    sink.flag("passiveAuthnEnabled", false)
    sink.flag("authPerBrowserSession", false)
    sink.flag("isProxy", false)
    sink.text("boardingStatus", ifKnown: boarding == .none ? nil : boarding.rawValue.uppercased())
    sink.text("platformMappingId", ifKnown: platformID)
    sink.flag("enablePlatformServices", enablesPlatformServices)
    sink.flag("displayInPlatformPicker", boarding != .none)
    sink.flag("enforcePlatformPermissions", boarding == .supported)
    sink.texts("requiredMetadataFields", item: "field", [])
    sink.flag("featured", isFeatured)
    sink.flag("secureSheet", wantsSecureSheet)
    if wantsIdentity { sink.flag("promotional", true) }
  }
}
