public import RegentPairing

/// A token with which programs register themselves as clients of a requestor (RFC 7591's initial access token).
public struct ClientInvitationRecord: Hashable, Sendable {
  /// The id that operators use in commands and lists.
  ///
  /// It is no secret, unlike the token.
  public let id: EnrolmentID
  public let requestor: RequestorID
  public let token: TokenHash
  /// The number of clients that may register with this invitation.
  public let uses: Int
  public let created: Instant
  public let expires: Instant
  /// The number of clients that have registered with this invitation.
  public var used: Int

  public init(
    id: EnrolmentID, requestor: RequestorID, token: TokenHash, uses: Int, created: Instant, expires: Instant,
    used: Int = 0
  ) {
    self.id = id
    self.requestor = requestor
    self.token = token
    self.uses = uses
    self.created = created
    self.expires = expires
    self.used = used
  }

  /// The maximum number of valid invitations that one requestor may have at a time.
  public static let mostOfRequestor = 64
  /// The largest value that `uses` may have.
  public static let mostUses = 10_000

  /// Whether one more client may register with this invitation.
  public func isValid(at now: Instant) -> Bool { now < expires && used < uses }

  /// The error for an invitation that is used up, expired, revoked or unknown.
  ///
  /// One error for all cases, so that an attacker who guesses tokens cannot tell them apart.
  public static let missing = StoreError.notFound(what: "invitation")
}
