public import RegentJSON
public import RegentPairing

/// The statistics of today's sign-ins, and of the codes and requests that are waiting now.
public struct Stats: AdminDocument, Codable, Hashable {
  /// The start of counting: midnight UTC, or the first start of the service on this day if that is later.
  public var since: Instant
  /// The number of registration codes that devices requested.
  @Ruled<DayCount> public var started = 0
  @Ruled<DayCount> public var opened = 0
  @Ruled<DayCount> public var approved = 0
  @Ruled<DayCount> public var denied = 0
  @Ruled<DayCount> public var expired = 0
  /// The number of registration codes that were withdrawn, because the device asked for a newer one or gave up.
  @Ruled<DayCount> public var withdrawn = 0
  /// The median time from the creation of a code to its approval.
  @Ruled<Span> public var medianTimeToApprove: Duration?
  /// The number of long polls of boxes and phones that are open now.
  @Ruled<DayCount> public var waiting = 0
  /// The number of registration codes that can still be approved now.
  @Ruled<DayCount> public var liveCodes = 0
  /// The number of wrong codes that viewers typed today.
  @Ruled<DayCount> public var wrongCodes = 0
  /// The sign-ins at each provider, beginning with the provider that has most.
  public var providers: [ProviderCount] = []
  /// The counters of each hour of today that has begun, oldest first.
  public var hours: [HourCount] = []

  private enum CodingKeys: String, CodingKey {
    case since, started, opened, approved, denied, expired, withdrawn
    case medianTimeToApprove = "medianTimeToApproveMs"
    case waiting, liveCodes, wrongCodes, providers, hours
  }

  public init(since: Instant) {
    self.since = since
  }
}

/// The number of today's sign-ins at one provider.
public struct ProviderCount: AdminDocument, Codable, Hashable {
  public let provider: ProviderID
  @Ruled<DayCount> public private(set) var approved: Int
  /// The number of boxes that were signed in, with or without a code.
  ///
  /// Sign-ins with temporary passes need no code.
  @Ruled<DayCount> public private(set) var signIns: Int

  public init(provider: ProviderID, approved: Int, signIns: Int) {
    self.provider = provider
    self.approved = approved
    self.signIns = signIns
  }
}

/// The statistics of one hour.
public struct HourCount: AdminDocument, Codable, Hashable {
  public let start: Instant
  /// The number of registration codes that devices requested in this hour.
  @Ruled<DayCount> public private(set) var started: Int
  @Ruled<DayCount> public private(set) var approved: Int

  public init(start: Instant, started: Int, approved: Int) {
    self.start = start
    self.started = started
    self.approved = approved
  }
}

/// The rule for a count in a document; it is 0 when the member is missing.
public enum DayCount: MemberRule {
  /// Reads the count.
  ///
  /// The upper bound is far above any real count, and low enough that computing percentages cannot overflow.
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Int {
    try object.optionalInteger(name, 0...1_000_000_000_000_000) ?? 0
  }

  public static func json(_ count: Int) -> JSONValue? { .integer(Int64(count)) }
}

/// The rule for a member of a document that holds a duration in milliseconds, or is missing.
public enum Span: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Duration? {
    try object.optionalSpan(name)
  }

  public static func json(_ span: Duration?) -> JSONValue? { span.map { .integer($0.wholeMilliseconds) } }
}
