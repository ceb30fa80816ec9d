package import RegentPairing

/// The counters of today, by the hour, from midnight to midnight UTC, counted while this service ran.
package struct DayNumbers: Hashable, Sendable {
  package struct Hour: Hashable, Sendable {
    package let start: Instant
    package internal(set) var started = 0
    package internal(set) var approved = 0
  }

  package private(set) var since: Instant
  /// The counters of the hours of the day that have begun, oldest first.
  package internal(set) var hours: [Hour]
  /// The number of approvals at each provider.
  package internal(set) var approvals: [ProviderID: Int] = [:]
  /// The number of boxes that each provider signed in without a code: with temporary passes, or while the provider was
  /// out of order (degradation).
  package internal(set) var withoutCode: [ProviderID: Int] = [:]
  var counts: [ServiceMetrics.Event: Int] = [:]
  /// The last 1,024 times from the creation of a code to its approval, in milliseconds.
  ///
  /// More would hardly change the median.
  var times: [Int64] = []
  private var oldestTime = 0

  static let anHour: Duration = .milliseconds(hour)
  static let mostTimes = 1_024
  static let mostProviders = 1_000
  private static let hour: Int64 = 3_600_000

  /// Makes counters at zero that begin now.
  package init(from now: Instant) {
    since = now
    hours = [Hour(start: Self.hourStart(now))]
  }

  package subscript(event: ServiceMetrics.Event) -> Int { counts[event] ?? 0 }

  /// The median time from the creation of a code to its approval; nil without an approval.
  package var medianTimeToApprove: Duration? {
    guard !times.isEmpty else { return nil }
    return .milliseconds(times.sorted()[times.count / 2])
  }

  mutating func count(_ event: ServiceMetrics.Event, _ times: Int, at now: Instant) {
    turn(to: now)
    counts[event, default: 0] += times
    if event == .codesStarted { hours[hours.count - 1].started += times }
    if event == .codesApproved { hours[hours.count - 1].approved += times }
  }

  mutating func approved(after span: Duration, at provider: ProviderID) {
    let milliseconds = max(span.wholeMilliseconds, 1)
    if times.count < Self.mostTimes {
      times.append(milliseconds)
    } else {
      times[oldestTime] = milliseconds
      oldestTime = (oldestTime + 1) % Self.mostTimes
    }
    Self.count(provider, in: &approvals)
  }

  mutating func letIn(at provider: ProviderID, at now: Instant) {
    turn(to: now)
    Self.count(provider, in: &withoutCode)
  }

  private static func count(_ provider: ProviderID, in counts: inout [ProviderID: Int]) {
    guard counts[provider] != nil || counts.count < mostProviders else { return }
    counts[provider, default: 0] += 1
  }

  /// Adds another node's counters for the same day.
  mutating func add(_ other: DayNumbers) {
    since = min(since, other.since)
    counts.merge(other.counts, uniquingKeysWith: +)
    approvals.merge(other.approvals, uniquingKeysWith: +)
    withoutCode.merge(other.withoutCode, uniquingKeysWith: +)
    times += other.times
    for hour in other.hours {
      if let place = hours.firstIndex(where: { $0.start == hour.start }) {
        hours[place].started += hour.started
        hours[place].approved += hour.approved
      } else {
        hours.append(hour)
      }
    }
    hours.sort { $0.start < $1.start }
  }

  /// Adds the hours that have begun since the last call, or begins a new day.
  mutating func turn(to now: Instant) {
    let day = Self.dayStart(now)
    if Self.dayStart(since) != day {
      self = DayNumbers(from: day)
    }
    let current = Self.hourStart(now)
    // After the clock was set back, events are counted in the newest hour that exists.
    while let last = hours.last, last.start < current, hours.count < 24 {
      hours.append(Hour(start: last.start + Self.anHour))
    }
  }

  static func dayStart(_ now: Instant) -> Instant { start(now, of: 24 * hour) }

  private static func hourStart(_ now: Instant) -> Instant { start(now, of: hour) }

  private static func start(_ now: Instant, of span: Int64) -> Instant {
    let rest = now.milliseconds % span
    return Instant(milliseconds: now.milliseconds - (rest < 0 ? rest + span : rest))
  }
}
