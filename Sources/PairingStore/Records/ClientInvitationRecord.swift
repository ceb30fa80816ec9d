public import RegentPairing

/// A token with which programs register themselves as clients of a requestor (RFC 7591's initial access token).
public struct ClientInvitationRecord: Hashable, Sendable {
  /// By what operators name it; no secret.
  public let id: EnrolmentID
  public let requestor: RequestorID
  public let token: TokenHash
  /// For how many clients it is.
  public let uses: Int
  public let created: Instant
  public let expires: Instant
  /// How many have registered with it.
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

  /// How many of one requestor stand at a time.
  public static let mostOfRequestor = 64
  /// For how many clients one may be.
  public static let mostUses = 10_000

  /// Whether one more client may register with it.
  public func isValid(at now: Instant) -> Bool { now < expires && used < uses }

  /// Used up, over, revoked or never there: nobody is told which.
  public static let missing = StoreError.notFound(what: "invitation")
}
