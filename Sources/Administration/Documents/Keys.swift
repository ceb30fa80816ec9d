public import RegentPairing

/// A requestor's key pair in a list, without its secret.
public struct KeyPairEntry: AdminDocument, Codable, Hashable {
  /// The public id of the key pair.
  public let publicKey: PublicKey
  public let requestor: RequestorID
  /// The purpose of the pair: `calls` when it signs requests of apps, `rows` when it signs the requestor's rows in the
  /// store.
  public let purpose: String
  public let state: String
  public let created: Instant
  /// The time at which the key pair last signed a request; nil if no use is known.
  ///
  /// After a crash, uses of the last hour may be missing.
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

/// A new key pair for a requestor.
///
/// Only this response contains its secret.
public struct IssuedKey: AdminDocument, Codable {
  /// The public id of the key pair.
  public let publicKey: PublicKey
  public let secret: String

  public init(publicKey: PublicKey, secret: String) {
    self.publicKey = publicKey
    self.secret = secret
  }
}

/// A software statement in a list.
public struct StatementEntry: AdminDocument, Codable, Hashable {
  public let id: StatementID
  public let requestor: RequestorID
  /// The name of the application.
  public let application: String
  public let issued: Instant
  /// Whether the statement and the clients that registered with it were revoked.
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

/// A new software statement, with which installations of an application register themselves.
public struct IssuedStatement: AdminDocument, Codable {
  public let id: StatementID
  /// The signed statement (a JWT).
  public let softwareStatement: String

  public init(id: StatementID, softwareStatement: String) {
    self.id = id
    self.softwareStatement = softwareStatement
  }
}

/// The kind of tokens that a key signs.
public enum SigningPurpose: String, AdminWord {
  case media, oauth
}

/// A key that signs tokens, in a list.
public struct SigningKeyEntry: AdminDocument, Codable, Hashable {
  public enum State: String, AdminWord {
    /// The key is in the published key set, so that verifiers fetch it, but does not sign yet.
    case published
    case signing
    /// The key signs no more; tokens that it signed are still valid.
    case retired
  }

  /// The key id in the header of the tokens that this key signs.
  public let id: SigningKeyID
  /// The kind of tokens that the key signs; nil from an earlier version of the service, which had only one kind.
  public var purpose: SigningPurpose?
  public var algorithm: String?
  public let state: State
  /// The time at which the key was made and published.
  public let created: Instant
  public let signsFrom: Instant
  /// The time at which a retired key is removed from the published key set; nil for a key that is not retired.
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
