public struct CodeLifetime: Hashable, Sendable {
  /// The lifetime of a registration code if the device asks for none: 30 minutes.
  public static let usual = CodeLifetime(seconds: 1800)

  /// The longest lifetime of a registration code that a device may ask for: 10 hours.
  public static let longest = CodeLifetime(seconds: 36_000)

  /// How long the service still answers "expired" after a code has expired: 10 minutes.
  ///
  /// Then it answers "unknown".
  ///
  /// A box that polls slowly, or that was asleep when the code expired, learns the reason and requests a new code.
  public static let remembrance: Duration = .seconds(600)

  public let seconds: Int

  public var span: Duration { .seconds(seconds) }

  /// The lifetime of a code that a device asked for; nil unless it is between 1 second and ``longest``.
  ///
  /// The lifetime is never shortened.
  public init?(asked seconds: Int) {
    guard seconds >= 1, seconds <= Self.longest.seconds else { return nil }
    self.seconds = seconds
  }

  private init(seconds: Int) {
    self.seconds = seconds
  }
}
