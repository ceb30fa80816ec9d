internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON

/// Options that go with every call, whatever the flow; they may change at any time.
public struct EnablerOptions: Hashable, Sendable {
  /// The name of ``applicationProfile`` in the dictionary form.
  public static let applicationProfileKey = "applicationProfile"
  /// The name of ``visitorID`` in the dictionary form.
  public static let visitorIDKey = "visitorID"
  /// The name of ``handlesSecureSheet`` in the dictionary form.
  public static let handleSVCKey = "handleSVC"
  /// The name of ``deviceInformation`` in the dictionary form.
  public static let deviceInfoKey = "device_info"

  /// Which of the service's configurations counts for this app.
  public var applicationProfile: String?
  /// Correlates calls in the app's analytics.
  public var visitorID: String?
  /// Whether the app presents secure browser sheets itself.
  public var handlesSecureSheet: Bool
  /// What the device says of itself, by the protocol's names (`model`, `osName`, …); it overrides what the enabler
  /// found out.
  public var deviceInformation: [String: String]
  /// Options that the enabler has no use for: they go with every call as they are, for the service's reports.
  public var others: [String: String]

  public init(
    applicationProfile: String? = nil, visitorID: String? = nil, handlesSecureSheet: Bool = false,
    deviceInformation: [String: String] = [:], others: [String: String] = [:]
  ) {
    self.applicationProfile = applicationProfile
    self.visitorID = visitorID
    self.handlesSecureSheet = handlesSecureSheet
    self.deviceInformation = deviceInformation
    self.others = others
  }
}

extension EnablerOptions {
  /// Reads the dictionary form; what is not readable is left out.
  public init(_ dictionary: [String: String]) {
    self.init(
      applicationProfile: dictionary[Self.applicationProfileKey],
      visitorID: dictionary[Self.visitorIDKey],
      handlesSecureSheet: dictionary[Self.handleSVCKey] == "true",
      deviceInformation: dictionary[Self.deviceInfoKey].map(Self.deviceInformation) ?? [:],
      others: dictionary.filter { name, _ in
        ![Self.applicationProfileKey, Self.visitorIDKey, Self.handleSVCKey, Self.deviceInfoKey].contains(name)
      })
  }

  /// Both the JSON object itself and its base64, as it goes over the wire, are understood.
  private static func deviceInformation(_ text: String) -> [String: String] {
    let json = Array(text.utf8)
    let bytes = json.first == UInt8(ascii: "{") ? json : (try? Base64.decode(text)) ?? []
    let limits = JSONLimits(depth: 4, bytes: 6144)
    guard let object = (try? JSONValue(reading: bytes, limits: limits))?.object else { return [:] }
    return Dictionary(
      object.members.compactMap { member in member.value.string.map { (member.name, $0) } },
      uniquingKeysWith: { _, last in last })
  }
}
