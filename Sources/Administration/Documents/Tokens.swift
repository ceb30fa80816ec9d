public import RegentJSON
public import RegentPairing

/// A media token that is to be looked at.
public struct TokenQuestion: AdminDocument {
  /// The token as apps get it (base64).
  public let token: String
  /// The resource it has to be for; none when any will do.
  public let resource: String?

  public init(token: String, resource: String?) {
    self.token = token
    self.resource = resource
  }

  /// Reads a question.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      token: try object.string("token"), resource: try object.optionalString("resource"))
  }

  /// The question as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("token", token)
    object.set("resource", resource)
    return object
  }
}

/// What a media token says, and whether it may be believed.
public struct TokenVerdict: AdminDocument, Hashable {
  /// Whether signature, time and resource are right.
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

  public init(valid: Bool, reason: String? = nil) {
    self.valid = valid
    self.reason = reason
  }

  /// Reads a verdict.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(valid: try object.bool("valid"), reason: try object.optionalString("reason"))
    keyID = try object.optionalString("keyId")
    requestor = try object.optionalString("requestor")
    provider = try object.optionalString("provider")
    resource = try object.optionalString("resource")
    issued = try object.optionalInstant("issued")
    expires = try object.optionalInstant("expires")
  }

  /// The verdict as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("valid", valid)
    object.set("reason", reason)
    object.set("keyId", keyID)
    object.set("requestor", requestor)
    object.set("provider", provider)
    object.set("resource", resource)
    object.set("issued", issued)
    object.set("expires", expires)
    return object
  }
}

/// A temporary pass that was begun.
public struct PassEntry: AdminDocument, Hashable {
  /// Whether it still opens anything.
  public enum State: String, Hashable, Sendable, CaseIterable {
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
  public let titles: Int
  /// How many it may open; none when all.
  public let titleLimit: Int?

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

  /// Reads a pass.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      place: try object.string("place"), requestor: try object.identifier("requestor"),
      provider: try object.identifier("provider"), device: try object.string("device"),
      identified: try object.bool("identified"), state: try object.word("state"),
      started: try object.instant("started"), until: try object.instant("until"),
      titles: try object.optionalInteger("titles", 0...Int.max) ?? 0,
      titleLimit: try object.optionalInteger("titleLimit", 0...Int.max))
  }

  /// The pass as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("place", place)
    object.set("requestor", requestor)
    object.set("provider", provider)
    object.set("device", device)
    object.set("identified", identified)
    object.set("state", state.rawValue)
    object.set("started", started)
    object.set("until", until)
    object.set("titles", titles)
    object.set("titleLimit", titleLimit)
    return object
  }
}

/// Whose temporary pass begins anew.
public struct PassReset: AdminDocument, Hashable {
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

  /// Reads a reset.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      requestor: try object.identifier("requestor"), provider: try object.identifier("provider"),
      device: try object.optionalString("device"), identity: try object.optionalString("identity"))
    guard device == nil || identity == nil else {
      throw JSONShapeError(name: "identity", expected: "left out when a device is named")
    }
  }

  /// The reset as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("requestor", requestor)
    object.set("provider", provider)
    object.set("device", device)
    object.set("identity", identity)
    return object
  }
}
