public import RegentPairing

/// A key pair of a requestor: an id and the secret that goes with it.
public struct KeyPair: Hashable, Sendable {
  /// What a pair is for.
  public enum Purpose: String, Hashable, Sendable, CaseIterable {
    /// Signs the device's calls: its secret is inside every app.
    case calls
    /// Signs the requestor's rows, together with a data key of the service: its secret never leaves the service.
    case rows
  }

  /// What a pair may still do.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// All.
    case active
    /// What exists stays good; nothing new is made with it.
    case retired
    /// Nothing: what it signed counts for nothing.
    case revoked
  }

  /// Its id.
  public let publicKey: PublicKey
  public let requestor: RequestorID
  public let purpose: Purpose
  public let secret: StoredSecret
  /// When it was made.
  public let created: Instant
  /// What it may still do.
  public internal(set) var state: State

  public init(
    publicKey: PublicKey, requestor: RequestorID, purpose: Purpose, secret: StoredSecret,
    created: Instant, state: State = .active
  ) {
    self.publicKey = publicKey
    self.requestor = requestor
    self.purpose = purpose
    self.secret = secret
    self.created = created
    self.state = state
  }
}

/// What the service needs random key material for: 32 bytes each, made once, sealed at rest, the same in every process.
public enum KeyPurpose: String, Hashable, Sendable, CaseIterable {
  /// Hashing registration codes.
  case codes
  /// Hashing bearer tokens.
  case tokens
  /// Hashing device ids and identities.
  case devices
  /// Signing form tokens of the phone's pages.
  case forms
  /// Signing access tokens of registered clients.
  case accessTokens
  /// Proving software statements.
  case statements
  /// Making and knowing refresh tokens.
  case refreshTokens
}

/// A key that signs tokens: of one purpose and one algorithm, so that no token is taken for one of another kind.
public struct SigningKeyRecord: Hashable, Sendable {
  /// Which tokens it signs.
  public enum Purpose: String, Hashable, Sendable, CaseIterable {
    case media
    case oauth
  }

  /// Its id: what tokens name and the published key set lists.
  public let id: SigningKeyID
  public let purpose: Purpose
  /// The private key, as PKCS #8.
  public let privateKey: StoredSecret
  /// The public key as a JSON Web Key: a list of it is what is published.
  public let publicKey: String
  /// When it was made and published.
  public let created: Instant
  /// From when on it signs: later than its publication, by at least the time that key sets are cached.
  public let signsFrom: Instant
  /// From when on it signs no more; none while it is in use.
  public internal(set) var retired: Instant?
  /// Until when it stays published: the end of the last token it signed.
  public internal(set) var neededUntil: Instant?

  public init(
    id: SigningKeyID, purpose: Purpose = .media, privateKey: StoredSecret, publicKey: String, created: Instant,
    signsFrom: Instant,
    retired: Instant? = nil, neededUntil: Instant? = nil
  ) {
    self.id = id
    self.purpose = purpose
    self.privateKey = privateKey
    self.publicKey = publicKey
    self.created = created
    self.signsFrom = signsFrom
    self.retired = retired
    self.neededUntil = neededUntil
  }
}

/// An application that a requestor registered: what its software statement says.
public struct ApplicationRecord: Hashable, Sendable {
  /// The statement's id.
  public let id: StatementID
  public let requestor: RequestorID
  /// What it is called.
  public let name: String
  /// When the statement was issued.
  public let issued: Instant
  /// Whether it, and every client registered with it, counts for nothing any more.
  public var isRevoked: Bool

  public init(
    id: StatementID, requestor: RequestorID, name: String, issued: Instant, isRevoked: Bool = false
  ) {
    self.id = id
    self.requestor = requestor
    self.name = name
    self.issued = issued
    self.isRevoked = isRevoked
  }
}

/// One installation of an application that registered itself.
public struct ClientRecord: Hashable, Sendable {
  public let id: ClientID
  public let secret: TokenHash
  public let application: StatementID
  public let requestor: RequestorID
  /// Where it may be sent back to.
  public let redirectURIs: [String]
  /// When it registered.
  public let issued: Instant

  public init(
    id: ClientID, secret: TokenHash, application: StatementID, requestor: RequestorID,
    redirectURIs: [String] = [], issued: Instant
  ) {
    self.id = id
    self.secret = secret
    self.application = application
    self.requestor = requestor
    self.redirectURIs = redirectURIs
    self.issued = issued
  }
}

extension KeyPair {
  /// The same pair in another state.
  public func with(_ state: State) -> KeyPair {
    var pair = self
    pair.state = state
    return pair
  }
}

extension KeyPair.State {
  /// Whether a pair may go from here to there: forwards only.
  public func mayBecome(_ next: KeyPair.State) -> Bool {
    switch (self, next) {
    case (_, .revoked), (.active, .retired), (.retired, .retired), (.active, .active): true
    case (.retired, .active), (.revoked, .active), (.revoked, .retired): false
    }
  }
}

extension SigningKeyRecord {
  /// The same key, ended.
  public func retired(at now: Instant, neededUntil: Instant) -> SigningKeyRecord {
    var key = self
    key.retired = now
    key.neededUntil = neededUntil
    return key
  }
}
