/// The limits of a service that an operator can set, with their defaults.
public struct ServiceLimits: Hashable, Sendable {
  /// Requests of one device.
  public var device: RateLimit = .device
  /// Requests of one source.
  ///
  /// There is no limit by default, because many devices can share one address.
  public var source: RateLimit?
  /// New guests and apps of one source at one requestor.
  ///
  /// Each adds a row, and an attacker can invent device ids.
  public var newcomers: RateLimit = .newcomers
  /// New permits of one account.
  ///
  /// Each adds a row, and an attacker can invent resource names.
  public var permits: RateLimit = .permits
  /// How many sign-ins one account may have.
  ///
  /// An attacker can invent device ids.
  public var signInsOfAccount = 100
  /// New codes of one requestor from one network address; nil is no limit.
  ///
  /// A building full of boxes may have one address.
  public var newCodes: RateLimit?
  /// New codes with which one device replaces its own.
  public var replacements: RateLimit = .replacements
  /// Wrong codes of one source and of one account.
  ///
  /// For codes that an app tries, of one source at one requestor.
  public var wrongCodes: FailureLimit = .wrongCodes
  /// Wrong codes of all sources together.
  public var allWrongCodes: FailureLimit = .allWrongCodes
  /// How many nonces are remembered for one key.
  public var nonces = ReplayWindow.usualCapacity
  /// How many codes can be live at one time.
  ///
  /// With more, a guess would be more likely to hit one.
  public var liveCodes = 100_000

  public init() {}
}
