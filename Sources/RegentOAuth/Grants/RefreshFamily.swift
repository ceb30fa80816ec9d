package import RegentPairing

/// The refresh tokens that came from one grant: one of them is alive at a time (RFC 9700 §4.14.2).
///
/// Each use makes the next one. A box whose answer got lost comes with the one before: for a while it is given the very
/// same next one again, because a packet that got lost must not sign a screen out. After that, an old token is a stolen
/// one, whichever of the two came first: all of them end.
package struct RefreshFamily: Sendable, Hashable {
  /// For how long the token before is answered with the same again.
  package static let grace: Duration = .seconds(60)
  /// The same where a key must be shown with each use, so that a copy of the token is of no use.
  package static let graceWithKey: Duration = .seconds(600)

  /// How many times it was used: the token of a number is the one that came from that many uses.
  package var generation: Int64
  /// When the latest one was made.
  package var rotated: Instant
  /// When the grant was given.
  package let created: Instant
  /// The key that must be shown; nil when none is.
  package let thumbprint: String?
  /// After how long without a use it ends.
  package let idle: Duration
  /// After how long it ends in any case.
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

  /// What to do with a token that was shown.
  package enum Verdict: Sendable, Hashable {
    /// Make the next one.
    case rotate
    /// Give the latest pair again.
    case again
    /// End the whole family: somebody has a copy.
    case stolen
    /// Its time is over.
    case over
    /// The key that it is bound to was not shown.
    case wrongKey
    /// It was never given out.
    case unknown
  }

  /// For how long the latest pair is given again.
  package var grace: Duration { thumbprint == nil ? Self.grace : Self.graceWithKey }

  /// When it ends, if it is not used before.
  package var ends: Instant { min(rotated + idle, created + absolute) }

  /// What a token of this number means now.
  ///
  /// A clock that was set back behind the latest use counts as no time gone: the grace is not longer for it than the
  /// clock says, and the family does not end by it.
  package func verdict(on shown: Int64, key: String?, at now: Instant) -> Verdict {
    guard shown >= 0, shown <= generation else { return .unknown }
    // Before all else: who has no key learns nothing about the token, and cannot end the family of who has.
    guard thumbprint == nil || thumbprint == key else { return .wrongKey }
    guard now < ends else { return .over }
    if shown == generation { return .rotate }
    return shown == generation - 1 && now.since(rotated) <= grace ? .again : .stolen
  }
}
