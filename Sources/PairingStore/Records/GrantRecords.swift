public import RegentPairing

/// A program that pairs in OAuth's words: of one requestor, whose viewers and rules it stands under.
public struct OAuthClientRecord: Hashable, Sendable {
  /// Who says what it is.
  public enum Origin: String, Hashable, Sendable, CaseIterable {
    case `operator`
    /// The requestor, by a software statement.
    case statement
    /// Itself, with a token that an operator made for it.
    case invited
    /// Nobody but itself.
    case itself

    /// Whether its name is only what it calls itself.
    public var isSelfNamed: Bool { self == .invited || self == .itself }
  }

  public let id: ClientID
  public let requestor: RequestorID
  public let origin: Origin
  /// The application whose statement it showed.
  public let application: StatementID?
  /// What the phone's page calls it.
  public var name: String
  /// The secret that it shows; none for a public client, and for one that signs.
  public var secret: TokenHash?
  /// With what it may change or remove its own registration.
  public var registrationToken: TokenHash?
  /// What was registered, as JSON.
  public var metadata: String
  /// For whom its access tokens are, when not for this service.
  public var audience: String?
  public let created: Instant
  /// When somebody paired with it for the first time; the store writes it with the grant, and it stays.
  public var paired: Instant?

  public init(
    id: ClientID, requestor: RequestorID, origin: Origin, application: StatementID? = nil, name: String,
    secret: TokenHash? = nil, registrationToken: TokenHash? = nil, metadata: String, audience: String? = nil,
    created: Instant, paired: Instant? = nil
  ) {
    self.id = id
    self.requestor = requestor
    self.origin = origin
    self.application = application
    self.name = name
    self.secret = secret
    self.registrationToken = registrationToken
    self.metadata = metadata
    self.audience = audience
    self.created = created
    self.paired = paired
  }
}

/// What a viewer gave a client on one device: a sign-in that it may use, and the family of its refresh tokens.
///
/// Signed columns: all of them; `public_key` is ``rowKey``.
public struct GrantRecord: Hashable, Sendable {
  public let id: GrantID
  public let client: ClientID
  /// The sign-in that it stands on: with it the grant ends.
  public let authentication: AuthenticationID
  /// What the client may do, as text.
  public let scope: String
  /// The key that the client must show with each token; none for a Bearer.
  public let thumbprint: String?
  public let created: Instant
  /// After how long without a use it ends; longer for one whose client tried while it was switched off.
  public var idle: Duration
  /// When it ends in any case.
  public let ends: Instant
  /// The key pair that signs this row: that of its authentication.
  public let rowKey: PublicKey
  /// How many times the refresh token was used.
  public var generation: Int64
  /// When that was the last time.
  public var rotated: Instant
  /// What was answered then: a box whose answer got lost is given the very same again.
  public var answer: StoredSecret

  public init(
    id: GrantID, client: ClientID, authentication: AuthenticationID, scope: String, thumbprint: String?,
    created: Instant, idle: Duration, ends: Instant, rowKey: PublicKey, generation: Int64, rotated: Instant,
    answer: StoredSecret
  ) {
    self.id = id
    self.client = client
    self.authentication = authentication
    self.scope = scope
    self.thumbprint = thumbprint
    self.created = created
    self.idle = idle
    self.ends = ends
    self.rowKey = rowKey
    self.generation = generation
    self.rotated = rotated
    self.answer = answer
  }

  /// When it ends if it is not used before.
  public var expires: Instant { min(rotated + idle, ends) }

  /// Whether its time is not over.
  public func isValid(at now: Instant) -> Bool { now < expires }
}

/// A grant that stands at this moment, and what it stands on, all as one transaction read it.
public struct StandingGrant: Hashable, Sendable {
  public let grant: GrantRecord
  public let client: OAuthClientRecord
  public let signIn: StandingSignIn
  /// By what its store knows later whether all of that is still so.
  public let version: GrantVersion?

  public init(grant: GrantRecord, client: OAuthClientRecord, signIn: StandingSignIn, version: GrantVersion? = nil) {
    self.grant = grant
    self.client = client
    self.signIn = signIn
    self.version = version
  }
}

/// Which version of a grant a store read when it stood: its row, and the mark that was taken before.
public struct GrantVersion: Hashable, Sendable {
  /// The signature of its row, which every change of the row changes.
  public let signature: [UInt8]
  public let mark: UInt64

  public init(signature: [UInt8], mark: UInt64) {
    self.signature = signature
    self.mark = mark
  }
}

/// Which grants are meant; what is not said does not narrow it.
public struct GrantFilter: Hashable, Sendable {
  public var id: GrantID?
  public var client: ClientID?
  /// The one that stands on this sign-in.
  public var authentication: AuthenticationID?

  public init(id: GrantID? = nil, client: ClientID? = nil, authentication: AuthenticationID? = nil) {
    self.id = id
    self.client = client
    self.authentication = authentication
  }

  /// Whether a grant is meant.
  public func includes(_ grant: GrantRecord) -> Bool {
    (id == nil || id == grant.id) && (client == nil || client == grant.client)
      && (authentication == nil || authentication == grant.authentication)
  }
}
