internal import PairingStore
internal import RegentPairing

/// Limits how many lines of the audit log unauthenticated clients can cause, for each network address and for each
/// requestor.
///
/// Some actions need no consent of an operator or viewer, such as registering with the software statement that each
/// copy of an app contains. When the limit is reached, the service still performs the actions but writes no lines. It
/// counts the lines that it leaves out and later writes one line with the count. Addresses whose hashes collide share a
/// limit, so a line may be left out although its own address is within the limit.
struct AuditBudgets {
  /// A kind of audit lines that one summary line counts: the lines about one action at one requestor.
  struct Kind: Hashable {
    let action: String
    /// The requestor of the lines.
    ///
    /// Nil for requestors beyond the first ``mostKinds`` kinds and for actions that concern no requestor, such as a
    /// sign-out of a guest's browser: their lines are counted together.
    let requestor: RequestorID?
  }

  /// The number of audit lines that were left out, and the time at which the first of them was left out.
  struct Count {
    var lines = 0
    let since: Uptime
  }

  /// The rate limit of audit lines for each network address.
  ///
  /// The burst equals the number of clients that one address may register at once. Afterwards one line a minute
  /// suffices to show that the registrations continue.
  private static let bySource = RateLimit(oneEvery: .seconds(60), burst: 100)
  /// The rate limit of audit lines for each requestor.
  ///
  /// One line a minute makes 525,600 a year, half of the million lines that the log keeps. An app whose copies all
  /// register again and again reaches this limit.
  private static let byRequestor = RateLimit(oneEvery: .seconds(60), burst: 1000)
  /// How long left-out audit lines are counted before the summary line is written.
  private static let pause: Duration = .seconds(600)
  /// The maximum number of kinds of audit lines that are counted separately.
  ///
  /// The number of actions is small and only operators create requestors, so the maximum is reached only when about a
  /// thousand apps are attacked at once.
  static let mostKinds = 1024

  private var sources = [RateMeter](repeating: RateMeter(), count: 1024)
  private var requestors = [RateMeter](repeating: RateMeter(), count: 256)
  private(set) var counts: [Kind: Count] = [:]

  /// Whether an audit line is within the limits of its address and requestor.
  ///
  /// If it is not, it is counted as left out. Lines that concern no requestor share the limit of one.
  mutating func take(_ action: String, at requestor: RequestorID?, from source: SourceKey?, now: Uptime) -> Bool {
    let isWithin =
      (source.map { Self.take(&sources, $0.network.hashValue, Self.bySource, now) } ?? true)
      && Self.take(&requestors, requestor.hashValue, Self.byRequestor, now)
    if !isWithin { leaveOut(action, at: requestor, now: now) }
    return isWithin
  }

  /// Counts a line as left out.
  mutating func leaveOut(_ action: String, at requestor: RequestorID?, now: Uptime) {
    var kind = Kind(action: action, requestor: requestor)
    if counts[kind] == nil, counts.count >= Self.mostKinds { kind = Kind(action: action, requestor: nil) }
    counts[kind, default: Count(since: now)].lines += 1
  }

  /// Counts lines again whose summary could not be written.
  mutating func putBack(_ count: Count, of kind: Kind) {
    counts[kind, default: Count(since: count.since)].lines += count.lines
  }

  /// Removes and returns the counts of left-out lines that are old enough to be written; all counts with `all`.
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
