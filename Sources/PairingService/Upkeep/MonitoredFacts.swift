package import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// Facts for the metrics that take a read of the store or of a file.
///
/// They are read once a minute, so that a scrape reads only memory.
package struct MonitoredFacts: Sendable {
  /// When the last backup was made; nil without one.
  package var lastBackup: Instant?
  package var signedInBoxes = 0
  /// Whether the last read succeeded.
  package var storeAnswers = true
  /// When the certificate ends, in seconds since 1970; nil without TLS.
  package var certificateEnds: Int64?
}

extension ServiceCore {
  /// Reads the facts that are in the store.
  func readMonitoredFacts() async {
    do throws(StoreError) {
      let kept = try await store.keptNumbers(.backup)
      let boxes = try await store.countSignedInBoxes(at: clock.now)
      monitored.withLock { facts in
        facts.lastBackup = kept.flatMap(Int64.init).map(Instant.init(milliseconds:))
        (facts.signedInBoxes, facts.storeAnswers) = (boxes, true)
      }
    } catch {
      monitored.withLock { $0.storeAnswers = false }
    }
  }

  /// Whether the service takes new clients; a full disk has a metric of its own.
  var isReady: Bool {
    guard HealthRoutes.reason(self) == nil, (try? requireRecentChanges()) != nil else { return false }
    return monitored.withLock { $0.storeAnswers }
  }

  /// The facts in the Prometheus text format.
  var monitoredText: String {
    let facts = monitored.withLock { $0 }
    var text = gauge("ready", "Whether the service takes new clients, as /readyz says.", isReady ? 1 : 0)
    text += gauge(
      "next_start_problem", "Whether the next start would fail: see regentctl doctor.",
      nextStartProblem.withLock { $0 } == nil ? 0 : 1)
    text += gauge("signed_in_boxes", "Boxes that are signed in.", facts.signedInBoxes)
    text += gauge(
      "boxes_clock_off_seconds", "How far this machine's clock is ahead of the median of the boxes' clocks.",
      Int(boxClocks.serviceAhead(at: clock.now, clock.uptime)?.ahead.components.seconds ?? 0))
    text += gauge(
      "last_backup_timestamp_seconds", "When the last backup was made; 0 when there is none.",
      Int((facts.lastBackup?.milliseconds ?? 0) / 1_000))
    return text
      + gauge(
        "certificate_expires_timestamp_seconds", "When the certificate ends; 0 without TLS.",
        Int(facts.certificateEnds ?? 0))
  }
}
