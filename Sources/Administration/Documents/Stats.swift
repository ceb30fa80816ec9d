public import RegentJSON
public import RegentPairing

/// How sign-ins go today, and what waits now.
public struct Stats: AdminDocument, Hashable {
  /// Since when the numbers count: midnight UTC, or the first start of the service on this day when that is later.
  public var since: Instant
  /// Codes that devices asked for.
  public var started = 0
  /// Codes that a phone opened.
  public var opened = 0
  /// Codes that were approved.
  public var approved = 0
  /// Codes that were denied.
  public var denied = 0
  /// Codes that ran out.
  public var expired = 0
  /// Codes that boxes took back, for another one or for good.
  public var withdrawn = 0
  /// From code to approval, the median.
  public var medianTimeToApprove: Duration?
  /// Devices that wait for an answer at this moment.
  public var waiting = 0
  /// Codes that can be approved at this moment.
  public var liveCodes = 0
  /// Wrong codes that were typed.
  public var wrongCodes = 0
  /// The providers with most sign-ins, most first.
  public var providers: [ProviderCount] = []
  /// What started and was approved hour by hour, oldest first.
  public var hours: [HourCount] = []

  /// Numbers since a time.
  public init(since: Instant) {
    self.since = since
  }

  /// Reads the numbers.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(since: try object.instant("since"))
    started = try object.count("started")
    opened = try object.count("opened")
    approved = try object.count("approved")
    denied = try object.count("denied")
    expired = try object.count("expired")
    withdrawn = try object.count("withdrawn")
    medianTimeToApprove = try object.optionalSpan("medianTimeToApproveMs")
    waiting = try object.count("waiting")
    liveCodes = try object.count("liveCodes")
    wrongCodes = try object.count("wrongCodes")
    providers = try object.documents("providers")
    hours = try object.documents("hours")
  }

  /// The numbers as they are sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("since", since)
    object.set("started", started)
    object.set("opened", opened)
    object.set("approved", approved)
    object.set("denied", denied)
    object.set("expired", expired)
    object.set("withdrawn", withdrawn)
    object.set("medianTimeToApproveMs", medianTimeToApprove)
    object.set("waiting", waiting)
    object.set("liveCodes", liveCodes)
    object.set("wrongCodes", wrongCodes)
    object.set("providers", providers)
    object.set("hours", hours)
    return object
  }
}

/// The sign-ins at one provider.
public struct ProviderCount: AdminDocument, Hashable {
  public let provider: ProviderID
  /// How many codes were approved.
  public let approved: Int
  /// How many boxes were let in, with or without a code: temporary passes need none.
  public let signIns: Int

  /// A provider's sign-ins.
  public init(provider: ProviderID, approved: Int, signIns: Int) {
    self.provider = provider
    self.approved = approved
    self.signIns = signIns
  }

  /// Reads a provider's sign-ins.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      provider: try object.identifier("provider"), approved: try object.count("approved"),
      signIns: try object.count("signIns"))
  }

  /// The sign-ins as they are sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("provider", provider)
    object.set("approved", approved)
    object.set("signIns", signIns)
    return object
  }
}

/// What happened in one hour.
public struct HourCount: AdminDocument, Hashable {
  /// When the hour began.
  public let start: Instant
  /// Codes that devices asked for.
  public let started: Int
  /// Codes that were approved.
  public let approved: Int

  /// An hour's numbers.
  public init(start: Instant, started: Int, approved: Int) {
    self.start = start
    self.started = started
    self.approved = approved
  }

  /// Reads an hour's numbers.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      start: try object.instant("start"), started: try object.count("started"),
      approved: try object.count("approved"))
  }

  /// The numbers as they are sent.
  public var object: JSONObject {
    var object = JSONObject()
    object.set("start", start)
    object.set("started", started)
    object.set("approved", approved)
    return object
  }
}

extension JSONObject {
  /// Far more than there will ever be, and few enough to take a hundredth of.
  fileprivate func count(_ name: String) throws(JSONShapeError) -> Int {
    try optionalInteger(name, 0...1_000_000_000_000_000) ?? 0
  }
}
