public import RegentPairing

/// A program that signs viewers in through OAuth.
///
/// It belongs to one requestor: that requestor's viewers and rules apply to it.
public struct OAuthClientRecord: Hashable, Sendable {
  /// How the client was registered, and so how far its metadata can be trusted.
  public enum Origin: String, Hashable, Sendable, CaseIterable {
    case `operator`
    /// The client registered with a software statement, which the requestor had signed and built into its app.
    case statement
    /// The client registered itself with an invitation token that an operator had made.
    case invited
    /// The client registered itself, without a statement or an invitation.
    case itself

    /// Whether the client chose its own name, which the requestor has not confirmed.
    public var isSelfNamed: Bool { self == .invited || self == .itself }
  }

  public let id: ClientID
  public let requestor: RequestorID
  public let origin: Origin
  /// The application whose software statement the client presented at its registration.
  public let application: StatementID?
  /// The client's name, as the phone's pages show it.
  public var name: String
  /// The hash of the client secret; nil for public clients and for clients that sign assertions.
  public var secret: TokenHash?
  /// The hash of the token with which the client may change or remove its own registration (RFC 7592).
  public var registrationToken: TokenHash?
  /// The registered client metadata (RFC 7591), as JSON.
  public var metadata: String
  /// The audience of the client's access tokens; nil when they are for this service.
  public var audience: String?
  public let created: Instant
  /// The time of the client's first grant.
  ///
  /// The store writes it together with that grant and never changes it.
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

/// The result of a viewer's consent for a client on one device: the sign-in that the client may use, and the state of
/// its refresh tokens.
///
/// The row signature covers all columns. The column `public_key` holds ``rowKey``.
public struct GrantRecord: Hashable, Sendable {
  public let id: GrantID
  public let client: ClientID
  /// The id of the sign-in that the client uses.
  ///
  /// When the sign-in ends, the grant ends.
  public let authentication: AuthenticationID
  /// The granted scope.
  public let scope: String
  /// The thumbprint of the DPoP key that the client must prove with each token; nil for Bearer tokens.
  public let thumbprint: String?
  public let created: Instant
  /// How long the grant lasts without use.
  ///
  /// The service extends this time when an operator has paused the sign-in and the client tries to refresh meanwhile.
  public var idle: Duration
  /// The time at which the grant ends even if the client uses it.
  public let ends: Instant
  /// The key pair that signs this row, the same one that signs the row of the grant's sign-in.
  public let rowKey: PublicKey
  /// How often the grant's refresh token has been exchanged.
  public var generation: Int64
  /// The time of the latest exchange of the refresh token.
  public var rotated: Instant
  /// The encrypted response to the latest exchange of the refresh token.
  ///
  /// A client that lost the response and repeats its request gets the same response again.
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

  /// The time at which the grant ends unless the client uses it before.
  public var expires: Instant { min(rotated + idle, ends) }

  public func isValid(at now: Instant) -> Bool { now < expires }
}

/// A valid grant with the records that make it valid, all read in one transaction.
public struct ValidGrant: Hashable, Sendable {
  public let grant: GrantRecord
  public let client: OAuthClientRecord
  public let signIn: ValidSignIn
  /// The version of the grant that the store read.
  ///
  /// A later write compares it to find out whether the grant is unchanged.
  public let version: GrantVersion?

  public init(grant: GrantRecord, client: OAuthClientRecord, signIn: ValidSignIn, version: GrantVersion? = nil) {
    self.grant = grant
    self.client = client
    self.signIn = signIn
    self.version = version
  }
}

/// The version of a grant that was read: the signature of its row, and the value of the store's change counter
/// (``GrantStore/standingMark``) before the read.
public struct GrantVersion: Hashable, Sendable {
  /// The signature of the grant's row.
  ///
  /// Every change of the row changes it.
  public let signature: [UInt8]
  public let mark: UInt64

  public init(signature: [UInt8], mark: UInt64) {
    self.signature = signature
    self.mark = mark
  }
}

/// Selects grants.
///
/// A property that is nil does not restrict the result.
public struct GrantFilter: Hashable, Sendable {
  public var id: GrantID?
  public var client: ClientID?
  public var authentication: AuthenticationID?

  public init(id: GrantID? = nil, client: ClientID? = nil, authentication: AuthenticationID? = nil) {
    self.id = id
    self.client = client
    self.authentication = authentication
  }

  /// Whether the grant passes every property of this filter that is set.
  public func includes(_ grant: GrantRecord) -> Bool {
    (id == nil || id == grant.id) && (client == nil || client == grant.client)
      && (authentication == nil || authentication == grant.authentication)
  }
}
