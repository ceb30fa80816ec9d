package import RegentPairing
internal import RegentPlatform

/// Counters since the start of the service.
package final class ServiceMetrics: Sendable {
  package enum Event: String, Sendable, CaseIterable {
    case codesStarted = "codes_started"
    case codesOpened = "codes_opened"
    case codesApproved = "codes_approved"
    case codesDelivered = "codes_delivered"
    case codesDenied = "codes_denied"
    case codesReported = "codes_reported"
    case codesExpired = "codes_expired"
    case codesWithdrawn = "codes_withdrawn"
    case wrongCodes = "wrong_codes"
    case requestsThrottled = "requests_throttled"
    case callsRefused = "calls_refused"
    case callsOutsideWindow = "calls_outside_window"
    case callsByRetiredKeys = "calls_by_retired_keys"
    case signIns = "sign_ins"
    case signInsFailed = "sign_ins_failed"
    case devicesSignedOut = "devices_signed_out"
    case authorizationsGranted = "authorizations_granted"
    case authorizationsDenied = "authorizations_denied"
    case mediaTokens = "media_tokens"
    case grantsBegun = "grants_begun"
    case grantsRefreshed = "grants_refreshed"
    case refreshesRepeated = "refreshes_repeated"
    case refreshTokensReused = "refresh_tokens_reused"
  }

  /// A histogram of the time that viewers take from the creation of a code to their approval.
  package struct Histogram: Sendable {
    /// The upper bounds of the buckets, in seconds.
    package static let bounds = [5, 10, 20, 30, 60, 120, 300, 600, 1800]
    /// The number of approvals in each bucket, the last bucket having no bound.
    ///
    /// The numbers are not cumulative.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    package private(set) var sumMilliseconds: Int64 = 0

    mutating func add(_ span: Duration) {
      let milliseconds = max(span.wholeMilliseconds, 0)
      let bucket = Self.bounds.firstIndex { milliseconds <= Int64($0) * 1000 }
      counts[bucket ?? Self.bounds.count] += 1
      sumMilliseconds &+= milliseconds
    }
  }

  /// The values of all counters at one moment.
  package struct Numbers: Sendable {
    package fileprivate(set) var counts: [Event: Int] = [:]
    /// A histogram of the seconds from the creation of a code to its approval.
    package fileprivate(set) var timeToApprove = Histogram()

    package subscript(event: Event) -> Int { counts[event] ?? 0 }
  }

  private struct ServiceMetricsState {
    var numbers = Numbers()
    var day: DayNumbers
  }

  private let state: Locked<ServiceMetricsState>
  private let clock: ServiceClock

  /// Makes counters at zero.
  ///
  /// The day's counters continue from the stored text `kept` when it is of today.
  package init(_ clock: ServiceClock, kept: String? = nil) {
    self.clock = clock
    let now = clock.now
    let day = kept.flatMap { DayNumbers(keptAs: $0, at: now) }
    state = Locked(ServiceMetricsState(day: day ?? DayNumbers(from: now)))
  }

  package func count(_ event: Event, _ times: Int = 1) {
    guard times > 0 else { return }
    let now = clock.now
    state.withLock { state in
      state.numbers.counts[event, default: 0] += times
      state.day.count(event, times, at: now)
    }
  }

  package func approved(after span: Duration, at provider: ProviderID) {
    let now = clock.now
    state.withLock { state in
      state.numbers.counts[.codesApproved, default: 0] += 1
      state.numbers.timeToApprove.add(span)
      state.day.count(.codesApproved, 1, at: now)
      state.day.approved(after: span, at: provider)
    }
  }

  /// Counts a box that a provider signed in without a code.
  package func letIn(at provider: ProviderID) {
    let now = clock.now
    state.withLock { $0.day.letIn(at: provider, at: now) }
  }

  package var now: Numbers { state.withLock { $0.numbers } }

  /// The counters of today.
  package func today(at now: Instant) -> DayNumbers {
    state.withLock { state in
      state.day.turn(to: now)
      return state.day
    }
  }
}
