package import RegentPairing

/// The refresh tokens of one grant, of which one is valid at a time (RFC 9700 §4.14.2).
///
/// Each use returns the next token. If the response gets lost, the box sends the previous token again; within a grace
/// period it then gets the same next token, because a lost packet must not sign a screen out. After the grace period, a
/// token that was already used is treated as stolen and the whole family ends, because the service cannot tell which of
/// the two clients is the thief.
package struct RefreshFamily: Sendable, Hashable {
  /// How long the previous refresh token may be used again, if the tokens are not bound to a key.
  package static let grace: Duration = .seconds(60)
  /// How long the previous refresh token may be used again, if each use needs a proof of a key.
  ///
  /// A copy of the token is then useless.
  package static let graceWithKey: Duration = .seconds(600)

  /// How many times the grant's refresh tokens were used.
  ///
  /// The response to use n contains the refresh token of generation n.
  package var generation: Int64
  /// The time at which a refresh token of the grant was last used.
  package var rotated: Instant
  package let created: Instant
  /// The thumbprint of the DPoP key that each use must prove, or `nil` if the tokens are not bound to a key.
  package let thumbprint: String?
  /// The refresh tokens of the grant expire if none was used for this long.
  package let idle: Duration
  /// The refresh tokens of the grant expire this long after the grant was created, even if they are used.
  package let absolute: Duration

  package init(
    generation: Int64, rotated: Instant, created: Instant, thumbprint: String?, idle: Duration, absolute: Duration
  ) {
    self.generation = generation
    self.rotated = rotated
    self.created = created
    self.thumbprint = thumbprint
    self.idle = idle
    self.absolute = absolute
  }

  /// What to do with a refresh token that a client sent.
  package enum Verdict: Sendable, Hashable {
    /// Issue the next refresh token.
    case rotate
    /// Return the latest refresh token again, because the response with it may have been lost.
    case again
    /// End all refresh tokens of the grant, because this one was copied.
    case stolen
    /// The refresh tokens of the grant have expired.
    case over
    /// The request has no proof of the key that the tokens are bound to.
    case wrongKey
    /// No token of this generation was issued.
    case unknown
  }

  /// How long the previous refresh token may be used again.
  package var grace: Duration { thumbprint == nil ? Self.grace : Self.graceWithKey }

  /// When the refresh tokens of the grant expire unless one is used before.
  package var ends: Instant { min(rotated + idle, created + absolute) }

  /// Decides what to do with a refresh token of generation `shown`.
  ///
  /// If the clock was set back to before the latest use, the elapsed time is negative. The previous token then stays in
  /// its grace period, and the family does not end.
  package func verdict(on shown: Int64, key: String?, at now: Instant) -> Verdict {
    guard shown >= 0, shown <= generation else { return .unknown }
    // The key is checked first: a client without it must learn nothing about the token, and must not be able to end the
    // grant.
    guard thumbprint == nil || thumbprint == key else { return .wrongKey }
    guard now < ends else { return .over }
    if shown == generation { return .rotate }
    return shown == generation - 1 && now.since(rotated) <= grace ? .again : .stolen
  }
}
