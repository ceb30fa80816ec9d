/// A device's right to watch one resource until a time, stored by the service: the second of the three tokens.
public struct Permit: Hashable, Sendable {
  /// The maximum number of permits stored for one sign-in.
  ///
  /// Each permit is a row, and an attacker can invent resource names.
  ///
  /// A box that opens more titles loses its oldest permit and must request it again.
  public static let mostOfSignIn = 1_000

  /// The authentication to which the permit belongs.
  ///
  /// The permit never outlives it.
  public let authentication: AuthenticationID
  /// The resource that the device may play, as the app named it.
  public let resource: ResourceID
  public let issued: Instant
  public let expires: Instant

  public init(
    authentication: AuthenticationID, resource: ResourceID, issued: Instant, expires: Instant
  ) {
    self.authentication = authentication
    self.resource = resource
    self.issued = issued
    self.expires = expires
  }

  /// The permit for an authorization at `now`.
  ///
  /// The permit ends with `lifetime`, or earlier with the authentication.
  public init(
    _ resource: ResourceID, for authentication: Authentication, lifetime: Duration, at now: Instant
  ) {
    self.init(
      authentication: authentication.id, resource: resource, issued: now,
      expires: min(now + lifetime, authentication.expires))
  }

  public func isValid(at now: Instant) -> Bool { now < expires }
}

extension Permit {
  /// Whether a new permit must be stored although the device has the permit `existing`.
  ///
  /// A permit with most of its lifetime left is as good as a new one. Storing it again with each request would turn
  /// each press of "play" into a disk write. In the last tenth of the lifetime a new permit is stored, so that the
  /// permit does not expire during playback.
  public static func isWorthWriting(over existing: Permit?, at now: Instant) -> Bool {
    guard let existing, existing.isValid(at: now) else { return true }
    let life = existing.expires.since(existing.issued)
    return existing.expires.since(now) * 10 < life
  }
}
