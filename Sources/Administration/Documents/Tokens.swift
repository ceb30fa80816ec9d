public import RegentJSON
public import RegentPairing

/// A media token to verify, with what it must be for.
public struct TokenQuestion: AdminDocument, Codable {
  /// The token in base64, as apps get it.
  public let token: String
  /// The resource that the token must be for; nil accepts any.
  public let resource: String?
  /// The requestor that the token must be for; nil accepts any, which is deprecated.
  public let requestor: String?

  public init(token: String, requestor: String?, resource: String?) {
    self.token = token
    self.requestor = requestor
    self.resource = resource
  }
}

/// The content of a media token, and whether the token is valid.
public struct TokenVerdict: AdminDocument, Codable, Hashable {
  /// Whether signature, time, requestor and resource are right.
  public var valid: Bool
  /// Why the token is not valid, as a sentence.
  public var reason: String?
  /// The id of the key that signed it.
  public var keyID: String?
  public var requestor: String?
  public var provider: String?
  /// The resource that may be watched with it.
  public var resource: String?
  public var issued: Instant?
  public var expires: Instant?

  private enum CodingKeys: String, CodingKey {
    case valid, reason
    case keyID = "keyId"
    case requestor, provider, resource, issued, expires
  }

  public init(valid: Bool, reason: String? = nil) {
    self.valid = valid
    self.reason = reason
  }
}

/// A temporary pass that a device has begun to use.
public struct PassEntry: AdminDocument, Codable, Hashable {
  /// Whether the pass still opens titles.
  public enum State: String, AdminWord {
    case running
    /// The pass has ended.
    case used
  }

  /// The position in the list, for requesting the next page.
  public let place: String
  public let requestor: RequestorID
  public let provider: ProviderID
  /// The short name of the box's device.
  public let device: String
  /// Whether the pass is for one person, as promotional passes are.
  ///
  /// The identity itself is stored only as a hash.
  public let identified: Bool
  public let state: State
  /// When the pass began.
  public let started: Instant
  /// When the pass ends.
  public let until: Instant
  /// The number of different titles that it has opened; counted only if there is a limit.
  @Ruled<TitleCount> public private(set) var titles: Int
  /// The maximum number of titles; nil for no limit.
  @Ruled<TitleLimit> public private(set) var titleLimit: Int?

  public init(
    place: String, requestor: RequestorID, provider: ProviderID, device: String, identified: Bool,
    state: State, started: Instant, until: Instant, titles: Int, titleLimit: Int?
  ) {
    self.place = place
    self.requestor = requestor
    self.provider = provider
    self.device = device
    self.identified = identified
    self.state = state
    self.started = started
    self.until = until
    self.titles = titles
    self.titleLimit = titleLimit
  }
}

/// Selects the temporary passes to reset.
public struct PassReset: AdminDocument, Codable, Hashable {
  public let requestor: RequestorID
  public let provider: ProviderID
  /// The device, by its own id or its short name.
  ///
  /// If neither device nor identity is given, all passes of the provider are reset.
  public let device: String?
  /// The identity of a promotional pass, as the app sends it.
  public let identity: String?

  public init(
    requestor: RequestorID, provider: ProviderID, device: String? = nil, identity: String? = nil
  ) {
    self.requestor = requestor
    self.provider = provider
    self.device = device
    self.identity = identity
  }

  /// Reads a reset; throws when both a device and an identity are given.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self = try object.decoded()
    guard device == nil || identity == nil else {
      throw JSONShapeError(name: "identity", expected: "removed if the member device is given")
    }
  }
}

/// The number of opened titles; 0 when the member is missing.
public enum TitleCount: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int {
    try object.optionalInteger(name, 0...Int.max) ?? 0
  }

  public static func json(_ count: Int) -> JSONValue? { .integer(Int64(count)) }
}

/// The maximum number of titles; no limit when the member is missing.
public enum TitleLimit: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int? {
    try object.optionalInteger(name, 0...Int.max)
  }

  public static func json(_ limit: Int?) -> JSONValue? { limit.map { .integer(Int64($0)) } }
}
