internal import RegentJSON

/// What an app says of itself and its viewer besides the protocol's parameters; anything may stand in it, and nothing
/// is decided by it.
public struct AppReport: AdminDocument, Codable, Hashable {
  /// A visitor id of the app's analytics.
  public var visitorID: String?
  /// Which of the integration's profiles the app asked for.
  public var profile: String?
  /// What the app gave with the call that began to sign in, as a JSON object.
  public var data: String?
  /// The app's options that the service has no use for, as a JSON object.
  public var options: String?

  /// None when there is nothing to say.
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

/// How lines of the audit log name a visitor, so that they can be found again.
public enum VisitorMark {
  /// The id in quotes, as JSON has it.
  public static func text(_ visitor: String) -> String {
    String(decoding: JSONValue.string(visitor).bytes(), as: UTF8.self)
  }

  /// Whether a line's detail is about that visitor.
  ///
  /// What boxes call themselves comes behind, and could be made to look like a mark.
  public static func isAbout(_ visitor: String, _ detail: String) -> Bool {
    let end = detail.firstRange(of: ", device ")?.lowerBound ?? detail.endIndex
    return detail[..<end].contains(", visitor \(text(visitor))")
  }
}
