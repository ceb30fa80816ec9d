/// The limits of one service: every number in one place, each with its usual value.
public struct ServiceLimits: Hashable, Sendable {
  /// Requests of one device.
  public var device: RateLimit = .device
  /// Requests of one source; none unless an operator says so, because many devices share one address.
  public var source: RateLimit?
  /// Wrong codes of one source, and of one account.
  public var wrongCodes: FailureLimit = .wrongCodes
  /// Wrong codes of everybody.
  public var allWrongCodes: FailureLimit = .allWrongCodes
  /// Codes that can be approved at one time: more would make guessing any of them easy.
  public var liveCodes = 100_000

  /// The usual limits.
  public init() {}
}
