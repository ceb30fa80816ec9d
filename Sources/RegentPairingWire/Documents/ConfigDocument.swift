public import RegentPairing

/// The provider list of a requestor: what `config` answers.
public struct ConfigDocument: WireDocument, Hashable {
  public static let root = XMLRoot("config")

  /// The kind of device that asked.
  public var device: String
  /// The kind of client that asked.
  public var clientType: String
  /// The operating system that asked.
  public var operatingSystem: String
  /// The requestor's id.
  public var requestor: String
  /// The requestor's name.
  public var name: String
  /// The requestor's domains.
  public var domains: [String]
  /// Whether its apps may read the device id (ours; written only when they may).
  public var exposesDeviceID: Bool
  /// The providers, in the order to show.
  public var providers: [ListedProvider]

  /// A provider list.
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

  /// Writes the documented nesting.
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

/// One provider of the list.
public struct ListedProvider: Hashable, Sendable {
  public var id: String
  /// What viewers read.
  public var displayName: String
  /// Where its logo is.
  public var logoURL: String?
  public var isTemporaryPass: Bool
  /// Its part in platform sign-on.
  public var boarding: BoardingStatus
  /// The platform's id for it.
  public var platformID: String?
  /// Whether the integration shares sign-ins through the platform.
  public var enablesPlatformServices: Bool
  /// Whether pickers show it first (ours).
  public var isFeatured: Bool
  /// Whether its pages want a browser sheet that the app cannot look into (ours).
  public var wantsSecureSheet: Bool
  /// Whether it is a promotional pass, which wants to know for whom it is (ours; written only when it is).
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
    // A temporary pass belongs to one app: it is never shared with others (documented as a must).
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
