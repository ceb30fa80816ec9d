internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON

/// Options that are sent with each request.
///
/// The app may change them at any time.
public struct EnablerOptions: Hashable, Sendable {
  /// The key of ``applicationProfile`` in the dictionary form.
  public static let applicationProfileKey = "applicationProfile"
  /// The key of ``visitorID`` in the dictionary form.
  public static let visitorIDKey = "visitorID"
  /// The key of ``handlesSecureSheet`` in the dictionary form.
  public static let handleSVCKey = "handleSVC"
  /// The key of ``deviceInformation`` in the dictionary form.
  public static let deviceInfoKey = "device_info"

  /// The name of the service's profile for this app, which has its own lifetimes and limits.
  public var applicationProfile: String?
  /// An id of the visitor in the app's analytics, with which its requests can be correlated.
  public var visitorID: String?
  /// Whether the app can show a browser sheet whose contents it cannot read.
  ///
  /// Some providers require one.
  public var handlesSecureSheet: Bool
  /// Device information by the protocol's names (`model`, `osName`, …).
  ///
  /// A value here overrides what the enabler has found out.
  public var deviceInformation: [String: String]
  /// Device information whose value is not a string.
  ///
  /// It is sent unchanged.
  public var deviceDetails: [String: OptionValue] = [:]
  /// Options whose names this type does not know.
  ///
  /// They are sent unchanged as query parameters with each request.
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
  /// Parses the dictionary form of the options.
  ///
  /// Invalid values are left out.
  public init(_ dictionary: [String: String]) {
    self.init(dictionary.mapValues { OptionValue.text($0) })
  }

  /// Parses the dictionary form of the options, with strings, numbers and booleans.
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

  /// Parses `device_info`: a JSON object, or the base64 of one, as the header contains it.
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
