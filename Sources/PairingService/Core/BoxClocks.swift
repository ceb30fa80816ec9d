internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// The clocks of boxes, as the `Date` of their configuration requests reports them, for `regentctl doctor`.
///
/// Boxes sign with the service's time, so a wrong clock of the service harms no call. But stream servers refuse media
/// tokens that are dated in the future, and many boxes with another time are a sign that the service's clock is wrong.
package final class BoxClocks: Sendable {
  /// `doctor` reports the difference to the boxes' clocks if the median is at least this large.
  package static let notable: Duration = .seconds(10)
  /// The maximum number of boxes whose time is remembered; it is enough for a median.
  ///
  /// A new report replaces the oldest one.
  private static let most = 64

  private struct Report {
    let date: Instant
    let at: Uptime
  }

  private let reports = Locked<[DeviceHash: Report]>([:])

  package init() {}

  func note(_ request: Request, of device: DeviceHash, at now: Uptime) {
    guard let seconds = request.header(.date).flatMap({ HTTPDate.epochSeconds($0) }) else { return }
    // A `Date` has whole seconds, so the best estimate of the box's time is half a second later.
    let report = Report(date: Instant(milliseconds: seconds * 1_000 + 500), at: now)
    reports.withLock { reports in
      if reports[device] == nil, reports.count >= Self.most,
        let oldest = reports.min(by: { $0.value.at < $1.value.at })?.key
      {
        reports[oldest] = nil
      }
      reports[device] = report
    }
  }

  /// How many boxes reported their time, and by how much the service's clock is ahead of their median; nil if no box
  /// reported its time.
  ///
  /// The boxes' clocks are assumed to have run on since their reports, so that a corrected clock of the service counts
  /// at once.
  func serviceAhead(at now: Instant, _ uptime: Uptime) -> (boxes: Int, ahead: Duration)? {
    let differences = reports.withLock { $0.values.map { now.since($0.date + uptime.since($0.at)) } }.sorted()
    guard !differences.isEmpty else { return nil }
    return (differences.count, differences[differences.count / 2])
  }
}

extension ServiceCore {
  /// The difference to the boxes' clocks, if it is large enough to be reported.
  package var boxClockDifference: (boxes: Int, ahead: Duration)? {
    boxClocks.serviceAhead(at: clock.now, clock.uptime).flatMap {
      $0.ahead >= BoxClocks.notable || $0.ahead <= .zero - BoxClocks.notable ? $0 : nil
    }
  }
}
