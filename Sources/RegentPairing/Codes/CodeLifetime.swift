/// How long a registration code lives.
public struct CodeLifetime: Hashable, Sendable {
  /// What a device gets that asks for nothing: 30 minutes.
  public static let usual = CodeLifetime(seconds: 1800)

  /// The longest that may be asked for: 10 hours.
  public static let longest = CodeLifetime(seconds: 36_000)

  /// How long an expired code is still answered as "expired" rather than "unknown": 10 minutes.
  ///
  /// A box that polls slowly, or that slept over the expiry, learns the reason and fetches a new code by itself.
  public static let remembrance: Duration = .seconds(600)

  /// The lifetime in whole seconds.
  public let seconds: Int

  public var span: Duration { .seconds(seconds) }

  /// What a device asked for; refused (never cut) when it is not between one second and the longest.
  public init?(asked seconds: Int) {
    guard seconds >= 1, seconds <= Self.longest.seconds else { return nil }
    self.seconds = seconds
  }

  private init(seconds: Int) {
    self.seconds = seconds
  }
}
