public import RegentJSON
public import RegentPairing

/// A key pair as lists show it: never its secret.
public struct KeyPairEntry: AdminDocument, Hashable {
  /// Its id.
  public let publicKey: PublicKey
  public let requestor: RequestorID
  /// `calls` or `rows`.
  public let purpose: String
  /// `active`, `retired` or `revoked`.
  public let state: String
  /// When it was made.
  public let created: Instant
  /// When it last signed a call, give or take an hour over a crash; none when that was never seen.
  public var lastUsed: Instant?

  public init(
    publicKey: PublicKey, requestor: RequestorID, purpose: String, state: String, created: Instant
  ) {
    self.publicKey = publicKey
    self.requestor = requestor
    self.purpose = purpose
    self.state = state
    self.created = created
  }

  /// Reads a key pair.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      publicKey: try object.identifier("publicKey"), requestor: try object.identifier("requestor"),
      purpose: try object.string("purpose"), state: try object.string("state"),
      created: try object.instant("created"))
    lastUsed = try object.optionalInstant("lastUsed")
  }

  /// The key pair as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("publicKey", publicKey)
    object.set("requestor", requestor)
    object.set("purpose", purpose)
    object.set("state", state)
    object.set("created", created)
    object.set("lastUsed", lastUsed)
    return object
  }
}

/// A new key pair, with its secret this one time.
public struct IssuedKey: AdminDocument {
  /// Its id.
  public let publicKey: PublicKey
  public let secret: String

  /// A new key pair.
  public init(publicKey: PublicKey, secret: String) {
    self.publicKey = publicKey
    self.secret = secret
  }

  /// Reads a new key pair.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      publicKey: try object.identifier("publicKey"), secret: try object.string("secret"))
  }

  /// The key pair as it is sent.
  public var object: JSONObject {
    ["publicKey": .string(publicKey.text), "secret": .string(secret)]
  }
}

/// A software statement as lists show it.
public struct StatementEntry: AdminDocument, Hashable {
  public let id: StatementID
  public let requestor: RequestorID
  /// What the application is called.
  public let application: String
  /// When it was issued.
  public let issued: Instant
  /// Whether it counts for nothing any more.
  public let revoked: Bool

  public init(
    id: StatementID, requestor: RequestorID, application: String, issued: Instant, revoked: Bool
  ) {
    self.id = id
    self.requestor = requestor
    self.application = application
    self.issued = issued
    self.revoked = revoked
  }

  /// Reads a statement.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      id: try object.identifier("id"), requestor: try object.identifier("requestor"),
      application: try object.string("application"), issued: try object.instant("issued"),
      revoked: try object.bool("revoked"))
  }

  /// The statement as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("id", id)
    object.set("requestor", requestor)
    object.set("application", application)
    object.set("issued", issued)
    object.set("revoked", revoked)
    return object
  }
}

/// A new software statement: what an app registers itself with.
public struct IssuedStatement: AdminDocument {
  public let id: StatementID
  /// The signed text.
  public let softwareStatement: String

  public init(id: StatementID, softwareStatement: String) {
    self.id = id
    self.softwareStatement = softwareStatement
  }

  /// Reads a new statement.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      id: try object.identifier("id"), softwareStatement: try object.string("softwareStatement"))
  }

  /// The statement as it is sent.
  public var object: JSONObject {
    ["id": .string(id.text), "softwareStatement": .string(softwareStatement)]
  }
}

/// A key that signs media tokens, as lists show it.
public struct SigningKeyEntry: AdminDocument, Hashable {
  /// Where a key is in its life.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// In the key set, so that verifiers know it before it signs.
    case published
    /// It signs.
    case signing
    /// It signs no more; its last tokens still count.
    case retired
  }

  /// Its id: what tokens name.
  public let id: SigningKeyID
  /// Where it is in its life.
  public let state: State
  /// When it was made and published.
  public let created: Instant
  /// From when on it signs.
  public let signsFrom: Instant
  /// Until when it stays in the key set, once it was retired.
  public let neededUntil: Instant?

  /// A signing key.
  public init(
    id: SigningKeyID, state: State, created: Instant, signsFrom: Instant, neededUntil: Instant?
  ) {
    self.id = id
    self.state = state
    self.created = created
    self.signsFrom = signsFrom
    self.neededUntil = neededUntil
  }

  /// Reads a signing key.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      id: try object.identifier("id"), state: try object.word("state"),
      created: try object.instant("created"), signsFrom: try object.instant("signsFrom"),
      neededUntil: try object.optionalInstant("neededUntil"))
  }

  /// The signing key as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("id", id)
    object.set("state", state.rawValue)
    object.set("created", created)
    object.set("signsFrom", signsFrom)
    object.set("neededUntil", neededUntil)
    return object
  }
}
