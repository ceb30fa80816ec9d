public import RegentJSON
public import RegentPairing

/// How sign-ins go today, and what waits now.
public struct Stats: AdminDocument, Codable, Hashable {
  /// Since when the numbers count: midnight UTC, or the first start of the service on this day when that is later.
  public var since: Instant
  /// Codes that devices asked for.
  @Ruled<DayCount> public var started = 0
  /// Codes that a phone opened.
  @Ruled<DayCount> public var opened = 0
  /// Codes that were approved.
  @Ruled<DayCount> public var approved = 0
  /// Codes that were denied.
  @Ruled<DayCount> public var denied = 0
  /// Codes that ran out.
  @Ruled<DayCount> public var expired = 0
  /// Codes that boxes took back, for another one or for good.
  @Ruled<DayCount> public var withdrawn = 0
  /// From code to approval, the median.
  @Ruled<Span> public var medianTimeToApprove: Duration?
  /// Devices that wait for an answer at this moment.
  @Ruled<DayCount> public var waiting = 0
  /// Codes that can be approved at this moment.
  @Ruled<DayCount> public var liveCodes = 0
  /// Wrong codes that were typed.
  @Ruled<DayCount> public var wrongCodes = 0
  /// The providers with most sign-ins, most first.
  public var providers: [ProviderCount] = []
  /// What started and was approved hour by hour, oldest first.
  public var hours: [HourCount] = []

  private enum CodingKeys: String, CodingKey {
    case since, started, opened, approved, denied, expired, withdrawn
    case medianTimeToApprove = "medianTimeToApproveMs"
    case waiting, liveCodes, wrongCodes, providers, hours
  }

  /// Numbers since a time.
  public init(since: Instant) {
    self.since = since
  }
}

/// The sign-ins at one provider.
public struct ProviderCount: AdminDocument, Codable, Hashable {
  public let provider: ProviderID
  /// How many codes were approved.
  @Ruled<DayCount> public private(set) var approved: Int
  /// How many boxes were let in, with or without a code: temporary passes need none.
  @Ruled<DayCount> public private(set) var signIns: Int

  /// A provider's sign-ins.
  public init(provider: ProviderID, approved: Int, signIns: Int) {
    self.provider = provider
    self.approved = approved
    self.signIns = signIns
  }
}

/// What happened in one hour.
public struct HourCount: AdminDocument, Codable, Hashable {
  /// When the hour began.
  public let start: Instant
  /// Codes that devices asked for.
  @Ruled<DayCount> public private(set) var started: Int
  /// Codes that were approved.
  @Ruled<DayCount> public private(set) var approved: Int

  /// An hour's numbers.
  public init(start: Instant, started: Int, approved: Int) {
    self.start = start
    self.started = started
    self.approved = approved
  }
}

/// What happened in a day; nothing did when it is left out.
public enum DayCount: MemberRule {
  /// Far more than there will ever be, and few enough to take a hundredth of.
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int {
    try object.optionalInteger(name, 0...1_000_000_000_000_000) ?? 0
  }

  public static func json(_ count: Int) -> JSONValue? { .integer(Int64(count)) }
}

/// A length of time that may be missing.
public enum Span: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Duration? {
    try object.optionalSpan(name)
  }

  public static func json(_ span: Duration?) -> JSONValue? { span.map { .integer($0.wholeMilliseconds) } }
}
