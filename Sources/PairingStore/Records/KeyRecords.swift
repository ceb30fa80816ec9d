public import RegentPairing

/// A key pair of a requestor: a public id and its secret.
public struct KeyPair: Hashable, Sendable {
  public enum Purpose: String, Hashable, Sendable, CaseIterable {
    /// Signs requests of devices.
    ///
    /// The secret is part of every copy of an app.
    case calls
    /// Signs the requestor's rows in the database, together with a data key of the service.
    ///
    /// The secret never leaves the service.
    case rows
  }

  public enum State: String, Hashable, Sendable, CaseIterable {
    /// The pair is in use.
    case active
    /// No new rows are signed with it, but what it has signed stays valid, and requests that it signs are still
    /// accepted.
    case retired
    /// Signatures of the pair are no longer accepted.
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
/// Each key has 32 bytes, is generated once, is stored encrypted, and is the same for all processes of the service.
public enum KeyPurpose: String, Hashable, Sendable, CaseIterable {
  /// Hashing registration codes.
  case codes
  /// Hashing bearer tokens.
  case tokens
  /// Hashing device ids and identities.
  case devices
  /// Signing the anti-forgery tokens in the forms of the phone's pages.
  case forms
  /// Signing access tokens of registered clients.
  case accessTokens
  /// Signing and verifying software statements.
  case statements
  /// Deriving and verifying refresh tokens.
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
  /// The time from which it signs.
  ///
  /// It lies after the publication by at least the time for which clients cache key sets, so that every verifier knows
  /// the key by then.
  public let signsFrom: Instant
  /// The time from which it signs no more; nil while it is in use.
  public internal(set) var retired: Instant?
  /// Until when the key stays published: the expiry of the last token that it signed.
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
  /// The id of the software statement.
  public let id: StatementID
  public let requestor: RequestorID
  public let name: String
  /// The time at which the statement was issued.
  public let issued: Instant
  /// Whether the statement is revoked.
  ///
  /// Then the clients that registered with it are refused as well.
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

/// One installation of an application that registered itself as a client.
public struct ClientRecord: Hashable, Sendable {
  public let id: ClientID
  public let secret: TokenHash
  public let application: StatementID
  public let requestor: RequestorID
  /// The redirect URIs that the client registered.
  public let redirectURIs: [String]
  /// The time of the registration.
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
  /// A copy of the pair in another state.
  public func with(_ state: State) -> KeyPair {
    var pair = self
    pair.state = state
    return pair
  }
}

extension KeyPair.State {
  /// Whether the state may change to `next`.
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
  /// A copy of the key that signs no more.
  public func retired(at now: Instant, neededUntil: Instant) -> SigningKeyRecord {
    var key = self
    key.retired = now
    key.neededUntil = neededUntil
    return key
  }
}
