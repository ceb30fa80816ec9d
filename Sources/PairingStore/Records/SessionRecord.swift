public import RegentPairing

/// A signed-in phone browser.
public struct SessionRecord: Hashable, Sendable {
  /// How long a browser stays signed in without being used: 12 hours.
  public static let idle: Duration = .seconds(12 * 3600)
  /// How long it stays signed in at most: 30 days.
  public static let longest: Duration = .seconds(30 * 86_400)
  /// How often its last use is written: once in 5 minutes, so that a page that renews its lease is no disk write.
  public static let touchInterval: Duration = .seconds(300)
  /// How many an account has at most; the one that was used longest ago makes room for a new one.
  public static let mostOfAccount = 50
  /// How many all guests of a provider have at most, who share no account.
  public static let mostOfGuests = 10_000

  /// Its id: what lists and claims use instead of the cookie.
  public let id: SessionID
  /// The cookie.
  public let token: TokenHash
  /// As whom.
  public let viewer: Viewer
  /// When it signed in.
  public let started: Instant
  /// When it was last used, give or take ``touchInterval``.
  public internal(set) var lastUsed: Instant
  /// What the browser says of itself.
  public let userAgent: String?
  /// From where it signed in.
  public let address: String?

  public init(
    id: SessionID, token: TokenHash, viewer: Viewer, started: Instant, lastUsed: Instant,
    userAgent: String? = nil, address: String? = nil
  ) {
    self.id = id
    self.token = token
    self.viewer = viewer
    self.started = started
    self.lastUsed = lastUsed
    self.userAgent = userAgent
    self.address = address
  }

  /// When it ends if nobody uses it any more.
  public var expires: Instant { min(lastUsed + Self.idle, started + Self.longest) }

  /// Whether it counts now.
  public func isValid(at now: Instant) -> Bool { now < expires }
}

extension SessionRecord {
  /// The same session, used at this time.
  public func used(at now: Instant) -> SessionRecord {
    var session = self
    session.lastUsed = now
    return session
  }
}
