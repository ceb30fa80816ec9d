/// The limits of a service that an operator can set, with their defaults.
public struct ServiceLimits: Hashable, Sendable {
  /// The rate limit for the requests of one device.
  public var device: RateLimit = .device
  /// The rate limit for the requests of one source (an IPv4 address or IPv6 /64).
  ///
  /// There is none by default, because many devices can share one address.
  public var source: RateLimit?
  /// The rate limit for new guests and new apps of one source (network address) at one requestor.
  ///
  /// Each guest or app adds a row, and an attacker can invent device ids.
  public var newcomers: RateLimit = .newcomers
  /// The rate limit for new permits (stored authorizations of one resource) of one account.
  ///
  /// Each permit adds a row. Without a limit, an attacker could invent resource names and fill the disk.
  public var permits: RateLimit = .permits
  /// How many devices may be signed in with one account.
  ///
  /// An attacker can invent device ids.
  public var signInsOfAccount = 100
  /// The rate limit for new codes of one requestor from one network address; nil is no limit.
  ///
  /// All boxes of a building may share one address.
  public var newCodes: RateLimit?
  /// The rate limit for new codes with which one device replaces its own code.
  public var replacements: RateLimit = .replacements
  /// The limit for wrong codes of one source (network address) and of one account.
  ///
  /// If apps try the codes, the limit counts per source and requestor.
  public var wrongCodes: FailureLimit = .wrongCodes
  /// The limit for wrong codes of all sources together.
  public var allWrongCodes: FailureLimit = .allWrongCodes
  /// How many nonces (single-use values of signed requests) are remembered for one key.
  public var nonces = ReplayWindow.usualCapacity
  /// How many codes can be live at one time.
  ///
  /// If more codes were live, a guess would be more likely to hit one.
  public var liveCodes = 100_000
  /// How many long polls are held before those of the network with the most are ended.
  ///
  /// A few connections stay free for other networks.
  public var longPolls = Int.max

  public init() {}
}
