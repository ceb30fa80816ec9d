public import JSON
public import Pairing

/// A media token that is to be looked at.
public struct TokenQuestion: AdminDocument {
  /// The token as apps get it (base64).
  public let token: String
  /// The resource it has to be for; none when any will do.
  public let resource: String?

  /// A question about a token.
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

  /// A verdict.
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

/// Whose temporary pass begins anew.
public struct PassReset: AdminDocument, Hashable {
  /// At which requestor.
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
