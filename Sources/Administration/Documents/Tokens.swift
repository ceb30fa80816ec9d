public import RegentJSON
public import RegentPairing

/// A media token that is to be looked at.
public struct TokenQuestion: AdminDocument, Codable {
  /// The token as apps get it (base64).
  public let token: String
  /// The resource it has to be for; none when any will do.
  public let resource: String?
  /// The requestor it has to be of; none, which is deprecated, when any will do.
  public let requestor: String?

  public init(token: String, requestor: String?, resource: String?) {
    self.token = token
    self.requestor = requestor
    self.resource = resource
  }
}

/// What a media token says, and whether it may be believed.
public struct TokenVerdict: AdminDocument, Codable, Hashable {
  /// Whether signature, time, requestor and resource are right.
  public var valid: Bool
  /// Why not, in a sentence.
  public var reason: String?
  /// The key that signed it.
  public var keyID: String?
  /// For whose app.
  public var requestor: String?
  /// The viewer's provider.
  public var provider: String?
  /// What may be watched with it.
  public var resource: String?
  /// When it was issued.
  public var issued: Instant?
  /// When it ends.
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

/// A temporary pass that was begun.
public struct PassEntry: AdminDocument, Codable, Hashable {
  /// Whether it still opens anything.
  public enum State: String, AdminWord {
    /// Its time runs.
    case running
    /// Its time is up.
    case used
  }

  /// Its place in the list: what the next page begins behind.
  public let place: String
  public let requestor: RequestorID
  /// At which temporary provider.
  public let provider: ProviderID
  /// The short id of the box.
  public let device: String
  /// Whether it is about somebody, as promotional passes are; who, is kept as a hash.
  public let identified: Bool
  /// Whether it still opens anything.
  public let state: State
  /// When its time began.
  public let started: Instant
  /// When its time is up.
  public let until: Instant
  /// How many different titles it opened; counted only where there is a limit.
  @Ruled<TitleCount> public private(set) var titles: Int
  /// How many it may open; none when all.
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

/// Whose temporary pass begins anew.
public struct PassReset: AdminDocument, Codable, Hashable {
  public let requestor: RequestorID
  /// At which temporary provider.
  public let provider: ProviderID
  /// One device's, by its own id or by its short name; nobody's in particular when neither is given.
  public let device: String?
  /// One identity's, as the app sends it.
  public let identity: String?

  /// A reset of everybody's, one device's or one identity's pass.
  public init(
    requestor: RequestorID, provider: ProviderID, device: String? = nil, identity: String? = nil
  ) {
    self.requestor = requestor
    self.provider = provider
    self.device = device
    self.identity = identity
  }

  /// Reads a reset of a device's or an identity's pass, not both.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self = try object.decoded()
    guard device == nil || identity == nil else {
      throw JSONShapeError(name: "identity", expected: "removed if the member device is given")
    }
  }
}

/// Titles that were opened; none were when it is left out.
public enum TitleCount: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int {
    try object.optionalInteger(name, 0...Int.max) ?? 0
  }

  public static func json(_ count: Int) -> JSONValue? { .integer(Int64(count)) }
}

/// Titles that may be opened; all when it is left out.
public enum TitleLimit: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int? {
    try object.optionalInteger(name, 0...Int.max)
  }

  public static func json(_ limit: Int?) -> JSONValue? { limit.map { .integer(Int64($0)) } }
}
