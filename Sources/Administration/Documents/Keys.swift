public import RegentPairing

/// A key pair as lists show it: never its secret.
public struct KeyPairEntry: AdminDocument, Codable, Hashable {
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
}

/// A new key pair, with its secret this one time.
public struct IssuedKey: AdminDocument, Codable {
  /// Its id.
  public let publicKey: PublicKey
  public let secret: String

  /// A new key pair.
  public init(publicKey: PublicKey, secret: String) {
    self.publicKey = publicKey
    self.secret = secret
  }
}

/// A software statement as lists show it.
public struct StatementEntry: AdminDocument, Codable, Hashable {
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
}

/// A new software statement: what an app registers itself with.
public struct IssuedStatement: AdminDocument, Codable {
  public let id: StatementID
  /// The signed text.
  public let softwareStatement: String

  public init(id: StatementID, softwareStatement: String) {
    self.id = id
    self.softwareStatement = softwareStatement
  }
}

/// Which tokens a key signs.
public enum SigningPurpose: String, AdminWord {
  case media, oauth
}

/// A key that signs tokens, as lists show it.
public struct SigningKeyEntry: AdminDocument, Codable, Hashable {
  /// Where a key is in its life.
  public enum State: String, AdminWord {
    /// In the key set, so that verifiers know it before it signs.
    case published
    /// It signs.
    case signing
    /// It signs no more; its last tokens still count.
    case retired
  }

  /// Its id: what tokens name.
  public let id: SigningKeyID
  /// Which tokens it signs; a service from before there were several does not say.
  public var purpose: SigningPurpose?
  /// `RS256`, `ES256` or `EdDSA`.
  public var algorithm: String?
  /// Where it is in its life.
  public let state: State
  /// When it was made and published.
  public let created: Instant
  public let signsFrom: Instant
  /// Until when it stays in the key set, once it was retired.
  public let neededUntil: Instant?

  public init(
    id: SigningKeyID, state: State, created: Instant, signsFrom: Instant, neededUntil: Instant?
  ) {
    self.id = id
    self.state = state
    self.created = created
    self.signsFrom = signsFrom
    self.neededUntil = neededUntil
  }
}
