/// A device's right to watch one resource for a while: the second of the three tokens.
public struct Permit: Hashable, Sendable {
  /// How many of one sign-in are kept: resources can be made up, and each permit is a row.
  ///
  /// A box that really opened so many titles asks once more for the one that it opened first.
  public static let mostOfSignIn = 1_000

  /// The authentication it stands on; it never outlives that.
  public let authentication: AuthenticationID
  /// What may be watched, as the app named it.
  public let resource: ResourceID
  /// When it was given.
  public let issued: Instant
  /// When it ends.
  public let expires: Instant

  public init(
    authentication: AuthenticationID, resource: ResourceID, issued: Instant, expires: Instant
  ) {
    self.authentication = authentication
    self.resource = resource
    self.issued = issued
    self.expires = expires
  }

  /// The permit for a decision made now: as long as the integration says, never longer than the authentication.
  public init(
    _ resource: ResourceID, for authentication: Authentication, lifetime: Duration, at now: Instant
  ) {
    self.init(
      authentication: authentication.id, resource: resource, issued: now,
      expires: min(now + lifetime, authentication.expires))
  }

  /// Whether it counts now.
  public func isValid(at now: Instant) -> Bool { now < expires }
}

extension Permit {
  /// Whether a new permit has to be written although `existing` is there.
  ///
  /// A permit that still has most of its life answers as well as a new one; writing it again on every "may I" would
  /// turn each play button into a disk write. In its last tenth a new one is worth the write: no playback meets the
  /// expiry.
  public static func isWorthWriting(over existing: Permit?, at now: Instant) -> Bool {
    guard let existing, existing.isValid(at: now) else { return true }
    let life = existing.expires.since(existing.issued)
    return existing.expires.since(now) * 10 < life
  }
}
