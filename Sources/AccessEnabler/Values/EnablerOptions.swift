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
  /// What the device says of itself that is no text; it goes along as it is.
  public var deviceDetails: [String: OptionValue] = [:]
  /// Options of other names: they go with every call as they are, as parameters of the query.
  public var others: [String: OptionValue] = [:]

  public init(
    applicationProfile: String? = nil, visitorID: String? = nil, handlesSecureSheet: Bool = false,
    deviceInformation: [String: String] = [:]
  ) {
    self.applicationProfile = applicationProfile
    self.visitorID = visitorID
    self.handlesSecureSheet = handlesSecureSheet
    self.deviceInformation = deviceInformation
  }
}

extension EnablerOptions {
  /// Reads the dictionary form; what is not readable is left out.
  public init(_ dictionary: [String: String]) {
    self.init(dictionary.mapValues { OptionValue.text($0) })
  }

  /// Reads the dictionary form with numbers and truth values in it.
  public init(_ dictionary: [String: OptionValue]) {
    let details = dictionary[Self.deviceInfoKey].map { Self.deviceInformation($0.text) } ?? [:]
    self.init(
      applicationProfile: dictionary[Self.applicationProfileKey]?.text,
      visitorID: dictionary[Self.visitorIDKey]?.text,
      handlesSecureSheet: ["true", "1"].contains(dictionary[Self.handleSVCKey]?.text),
      deviceInformation: details.compactMapValues { if case .text(let text) = $0 { text } else { nil } })
    deviceDetails = details.filter { if case .text = $0.value { false } else { true } }
    others = dictionary.filter { !Self.known.contains($0.key) }
  }

  private static let known = [applicationProfileKey, visitorIDKey, handleSVCKey, deviceInfoKey]

  /// Both the JSON object itself and its base64, as it goes over the wire, are understood.
  private static func deviceInformation(_ text: String) -> [String: OptionValue] {
    let json = Array(text.utf8)
    let bytes = json.first == UInt8(ascii: "{") ? json : (try? Base64.decode(text)) ?? []
    let limits = JSONLimits(depth: 4, bytes: 6144)
    guard let object = (try? JSONValue(reading: bytes, limits: limits))?.object else { return [:] }
    return Dictionary(
      object.members.compactMap { member in OptionValue(member.value).map { (member.name, $0) } },
      uniquingKeysWith: { _, last in last })
  }
}
