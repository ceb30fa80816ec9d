public import RegentJSON
public import RegentPairing

/// A media token to verify, with the resource and requestor that it must be for.
public struct TokenQuestion: AdminDocument, Codable {
  /// The media token in base64, as apps get it.
  public let token: String
  /// The resource for which the token must be valid; nil accepts any.
  public let resource: String?
  /// The requestor for whose apps the token must be valid; nil accepts any, which is deprecated.
  public let requestor: String?

  public init(token: String, requestor: String?, resource: String?) {
    self.token = token
    self.requestor = requestor
    self.resource = resource
  }
}

/// The content of a verified media token, and whether the token is valid.
public struct TokenVerdict: AdminDocument, Codable, Hashable {
  /// Whether the token's signature, time, requestor and resource are right.
  public var valid: Bool
  /// Why the media token is not valid, as a sentence.
  public var reason: String?
  /// The id of the key that signed the media token.
  public var keyID: String?
  public var requestor: String?
  public var provider: String?
  /// The resource that may be watched with the media token.
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
  /// Whether the temporary pass can still be used.
  public enum State: String, AdminWord {
    case running
    /// The temporary pass has ended.
    case used
  }

  /// The pass's position in the list, with which the next page is requested.
  public let place: String
  public let requestor: RequestorID
  public let provider: ProviderID
  /// The short name of the device that uses the pass.
  public let device: String
  /// Whether the pass is for one viewer, as promotional passes are.
  ///
  /// The identity itself is stored only as a hash.
  public let identified: Bool
  public let state: State
  /// The time at which the device began to use the pass.
  public let started: Instant
  /// The time at which the pass ends.
  public let until: Instant
  /// The number of different titles that the viewer has watched with the pass; counted only if the pass has a limit of
  /// titles.
  @Ruled<TitleCount> public private(set) var titles: Int
  /// The maximum number of different titles that the viewer may watch with the pass; nil for no limit.
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
  /// The device whose passes to reset: the device id that it sends, or its short name in lists.
  ///
  /// If neither device nor identity is given, all passes of the provider are reset.
  public let device: String?
  /// The identity whose promotional passes to reset, as the app sends it.
  public let identity: String?

  public init(
    requestor: RequestorID, provider: ProviderID, device: String? = nil, identity: String? = nil
  ) {
    self.requestor = requestor
    self.provider = provider
    self.device = device
    self.identity = identity
  }

  /// Reads which passes to reset; throws when both a device and an identity are given.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self = try object.decoded()
    guard device == nil || identity == nil else {
      throw JSONShapeError(name: "identity", expected: "removed if the member device is given")
    }
  }
}

/// The rule for the number of titles that were watched with a pass; 0 when the member is missing.
public enum TitleCount: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int {
    try object.optionalInteger(name, 0...Int.max) ?? 0
  }

  public static func json(_ count: Int) -> JSONValue? { .integer(Int64(count)) }
}

/// The rule for the maximum number of titles of a pass; no limit when the member is missing.
public enum TitleLimit: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int? {
    try object.optionalInteger(name, 0...Int.max)
  }

  public static func json(_ limit: Int?) -> JSONValue? { limit.map { .integer(Int64($0)) } }
}
