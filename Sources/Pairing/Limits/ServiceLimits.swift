/// The limits of one service: every number in one place, each with its usual value.
public struct ServiceLimits: Hashable, Sendable {
  /// Requests of one device.
  public var device: RateLimit = .device
  /// Requests of one source; none unless an operator says so, because many devices share one address.
  public var source: RateLimit?
  /// New codes, guests and apps of one source at one requestor: each leaves a row, and device ids can be made up.
  ///
  /// In ten hours, the longest life of a code, one source gets less than half of the usual `liveCodes`.
  public var newcomers: RateLimit = .newcomers
  /// Wrong codes of one source, and of one account; of one source and requestor, where an app tries them.
  public var wrongCodes: FailureLimit = .wrongCodes
  /// Wrong codes of everybody.
  public var allWrongCodes: FailureLimit = .allWrongCodes
  /// Codes that can be approved at one time: more would make guessing any of them easy.
  public var liveCodes = 100_000
  /// How many of them may be of one requestor while there are others: one app whose secret is known must not keep all
  /// other apps from getting codes.
  public var liveCodesOfOne: Int { max(liveCodes / 2, 1) }

  /// The usual limits.
  public init() {}
}
