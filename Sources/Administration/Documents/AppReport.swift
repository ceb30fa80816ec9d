internal import RegentJSON

/// What an app reports about itself and its viewer beyond the protocol's parameters.
///
/// It is untrusted text, and the service decides nothing by it.
public struct AppReport: AdminDocument, Codable, Hashable {
  /// The visitor id that the app's analytics uses for the viewer.
  public var visitorID: String?
  /// The profile of the integration (a set of lifetimes and limits) that the app asked for.
  public var profile: String?
  /// The data that the app sent with the request that began the sign-in, as a JSON object.
  public var data: String?
  /// The options of the app that the service does not use, as a JSON object.
  public var options: String?

  /// Makes a report of an app; nil when all values are nil.
  public init?(visitorID: String? = nil, profile: String? = nil, data: String? = nil, options: String? = nil) {
    guard visitorID != nil || profile != nil || data != nil || options != nil else { return nil }
    self.visitorID = visitorID
    self.profile = profile
    self.data = data
    self.options = options
  }

  private enum CodingKeys: String, CodingKey {
    case visitorID = "visitorId"
    case profile, data, options
  }
}

/// Writes visitor ids into audit entries, and finds them there again.
public enum VisitorPseudonym {
  /// The visitor id as a JSON string, as it is written into audit entries.
  public static func text(_ visitor: String) -> String {
    String(decoding: JSONValue.string(visitor).bytes(), as: UTF8.self)
  }

  /// Whether the detail text of an audit entry names that visitor.
  ///
  /// Only the text before the device's name is searched, because a device could choose a name that looks like a visitor
  /// id.
  public static func isAbout(_ visitor: String, _ detail: String) -> Bool {
    let end = detail.firstRange(of: ", device ")?.lowerBound ?? detail.endIndex
    return detail[..<end].contains(", visitor \(text(visitor))")
  }
}
