internal import PairingStore
internal import RegentPairing

/// How many lines of the audit log strangers cause: so many from one network address, and so many at one requestor.
///
/// A stranger may do some things without the consent of an operator or viewer, such as registering a client with the
/// statement that each copy of an app carries. The service still does them. When the share is used up it leaves out the
/// line alone, counts it, and writes one line with the count later. Sources whose hashes meet share a meter: then a
/// line may be counted that could have been listed.
struct AuditBudgets {
  /// Lines that are told together.
  struct Kind: Hashable {
    let action: String
    /// None for those for whom there was no room.
    let requestor: RequestorID?
  }

  /// Lines that were left out, and since when.
  struct Count {
    var lines = 0
    let since: Uptime
  }

  /// As many at once as a source may register; afterwards one line each minute says enough of it.
  private static let bySource = RateLimit(oneEvery: .seconds(60), burst: 100)
  /// Half of the log's million lines in a year, for an app whose every copy is new all the time.
  private static let byRequestor = RateLimit(oneEvery: .seconds(60), burst: 1000)
  /// For how long lines are counted before it is told.
  private static let pause: Duration = .seconds(600)
  /// Actions are few and requestors are made by operators: more than this is a thousand apps under attack.
  static let mostKinds = 1024

  private var sources = [RateMeter](repeating: RateMeter(), count: 1024)
  private var requestors = [RateMeter](repeating: RateMeter(), count: 256)
  private(set) var counts: [Kind: Count] = [:]

  /// Takes one line of the shares, or counts it.
  mutating func take(_ action: String, at requestor: RequestorID, from source: SourceKey?, now: Uptime) -> Bool {
    let isWithin =
      (source.map { Self.take(&sources, $0.network.hashValue, Self.bySource, now) } ?? true)
      && Self.take(&requestors, requestor.hashValue, Self.byRequestor, now)
    guard !isWithin else { return true }
    var kind = Kind(action: action, requestor: requestor)
    if counts[kind] == nil, counts.count >= Self.mostKinds { kind = Kind(action: action, requestor: nil) }
    counts[kind, default: Count(since: now)].lines += 1
    return false
  }

  /// What has been counted for long enough to be told; everything with `all`.
  mutating func due(at now: Uptime, all: Bool) -> [(Kind, Count)] {
    let due = counts.filter { all || now.since($0.value.since) >= Self.pause }
    for kind in due.keys { counts[kind] = nil }
    return due.map { ($0.key, $0.value) }
  }

  private static func take(_ meters: inout [RateMeter], _ hash: Int, _ limit: RateLimit, _ now: Uptime) -> Bool {
    let place = Int(UInt(bitPattern: hash) % UInt(meters.count))
    return meters[place].take(of: limit, at: now) == .within
  }
}
