public import RegentPairing

/// The session of a signed-in phone browser.
public struct SessionRecord: Hashable, Sendable {
  /// How long a session may stay unused before it ends: 12 hours.
  public static let idle: Duration = .seconds(12 * 3600)
  /// How long a session lasts at most, even when it is used: 30 days.
  public static let longest: Duration = .seconds(30 * 86_400)
  /// The minimum time between two writes of a session's last use.
  ///
  /// A page that renews its claim of a code often then does not write to disk each time.
  public static let touchInterval: Duration = .seconds(300)
  /// The maximum number of sessions of one account.
  ///
  /// A new session ends the one that was unused for the longest time.
  public static let mostOfAccount = 50
  /// The maximum number of sessions of all guests of one provider together, because guests have no account to count by.
  public static let mostOfGuests = 10_000

  /// The session's id.
  ///
  /// Lists and claims use it instead of the secret cookie.
  public let id: SessionID
  /// The hash of the session cookie.
  public let token: TokenHash
  public let viewer: Viewer
  public let started: Instant
  /// The time of the session's last use.
  ///
  /// It may be up to ``touchInterval`` too early.
  public internal(set) var lastUsed: Instant
  /// The User-Agent header of the sign-in request.
  public let userAgent: String?
  /// The network address of the sign-in request.
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

  /// The time at which the session ends unless the browser uses it before.
  public var expires: Instant { min(lastUsed + Self.idle, started + Self.longest) }

  public func isValid(at now: Instant) -> Bool { now < expires }
}

extension SessionRecord {
  /// A copy of the session with this time as its last use.
  public func used(at now: Instant) -> SessionRecord {
    var session = self
    session.lastUsed = now
    return session
  }
}
