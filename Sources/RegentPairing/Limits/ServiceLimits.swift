/// The limits of one service that an operator can set, each with its usual value.
public struct ServiceLimits: Hashable, Sendable {
  /// Requests of one device.
  public var device: RateLimit = .device
  /// Requests of one source; none unless an operator says so, because many devices share one address.
  public var source: RateLimit?
  /// Guests and apps of one source at one requestor: each leaves a row, and device ids can be made up.
  public var newcomers: RateLimit = .newcomers
  /// New permits of one account: each is a row, and resources can be made up.
  public var permits: RateLimit = .permits
  /// Sign-ins that one account may have: device ids can be made up.
  public var signInsOfAccount = 100
  /// New codes of one requestor from one network address; nil is no limit, because a hall full of boxes has one
  /// address.
  public var newCodes: RateLimit?
  /// New codes of one device in the place of its own.
  public var replacements: RateLimit = .replacements
  /// Wrong codes of one source, and of one account; of one source and requestor, where an app tries them.
  public var wrongCodes: FailureLimit = .wrongCodes
  /// Wrong codes of everybody.
  public var allWrongCodes: FailureLimit = .allWrongCodes
  /// Nonces of one key that are remembered.
  public var nonces = ReplayWindow.usualCapacity
  /// Codes that can be approved at one time: more would make guessing any of them easy.
  public var liveCodes = 100_000

  public init() {}
}
