public import RegentPairing

/// A requestor's key pair for signing: a public id and a shared secret.
public struct KeyPair: Hashable, Sendable {
  public enum Purpose: String, Hashable, Sendable, CaseIterable {
    /// The pair signs requests of devices.
    ///
    /// Its secret is part of every copy of an app.
    case calls
    /// The pair signs the requestor's rows in the database, together with a data key of the service.
    ///
    /// Its secret never leaves the service.
    case rows
  }

  public enum State: String, Hashable, Sendable, CaseIterable {
    /// The key pair is in use.
    case active
    /// The key pair signs no new rows.
    ///
    /// Rows that it has signed stay valid, and requests that it signs are still accepted.
    case retired
    /// Signatures of the key pair are no longer accepted.
    case revoked
  }

  public let publicKey: PublicKey
  public let requestor: RequestorID
  public let purpose: Purpose
  public let secret: StoredSecret
  public let created: Instant
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

/// The purposes for which the service needs random keys.
///
/// Each purpose has one key of 32 bytes. It is generated once, stored encrypted, and the same for all processes of the
/// service.
public enum KeyPurpose: String, Hashable, Sendable, CaseIterable {
  /// The key for hashing registration codes.
  case codes
  /// The key for hashing bearer tokens.
  case tokens
  /// The key for hashing device ids and identities.
  case devices
  /// The key for the anti-forgery tokens in the forms of the phone's pages.
  case forms
  /// The key for signing access tokens of registered clients.
  case accessTokens
  /// The key for signing and verifying software statements.
  case statements
  /// The key for deriving and verifying refresh tokens.
  case refreshTokens
}

/// A key that signs tokens.
///
/// It has one purpose and one algorithm, so that a token of one kind is never accepted as one of another kind.
public struct SigningKeyRecord: Hashable, Sendable {
  /// Which tokens the key signs.
  public enum Purpose: String, Hashable, Sendable, CaseIterable {
    case media
    case oauth
  }

  /// The key id (`kid`) in token headers and in the published key set.
  public let id: SigningKeyID
  public let purpose: Purpose
  /// The private key, as PKCS #8.
  public let privateKey: StoredSecret
  /// The public key as a JSON Web Key, for the published key set.
  public let publicKey: String
  /// The time at which the key was generated and published.
  public let created: Instant
  /// The time from which the key signs tokens.
  ///
  /// Clients cache key sets, so the key is published at least that cache time earlier. Every verifier knows it by then.
  public let signsFrom: Instant
  /// The time from which the key signs no more tokens; nil while it is in use.
  public internal(set) var retired: Instant?
  /// The time until which the key stays published: the expiry of the last token that it signed.
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

/// An application that a requestor registered, with the content of its software statement.
public struct ApplicationRecord: Hashable, Sendable {
  /// The id of the application's software statement.
  public let id: StatementID
  public let requestor: RequestorID
  public let name: String
  /// The time at which the statement was issued.
  public let issued: Instant
  /// Whether the software statement is revoked.
  ///
  /// Clients that registered with a revoked statement are refused.
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

/// One installation of an application.
///
/// The installation has registered itself as a client.
public struct ClientRecord: Hashable, Sendable {
  public let id: ClientID
  public let secret: TokenHash
  public let application: StatementID
  public let requestor: RequestorID
  /// The redirect URIs that the client registered.
  public let redirectURIs: [String]
  /// The time at which the client registered.
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
  /// A copy of the key pair in another state.
  public func with(_ state: State) -> KeyPair {
    var pair = self
    pair.state = state
    return pair
  }
}

extension KeyPair.State {
  /// Whether the key pair may change from its state to `next`.
  ///
  /// A revoked or retired pair never becomes active again.
  public func mayBecome(_ next: KeyPair.State) -> Bool {
    switch (self, next) {
    case (_, .revoked), (.active, .retired), (.retired, .retired), (.active, .active): true
    case (.retired, .active), (.revoked, .active), (.revoked, .retired): false
    }
  }
}

extension SigningKeyRecord {
  /// A copy of the signing key, marked as retired: it signs no more tokens.
  public func retired(at now: Instant, neededUntil: Instant) -> SigningKeyRecord {
    var key = self
    key.retired = now
    key.neededUntil = neededUntil
    return key
  }
}
