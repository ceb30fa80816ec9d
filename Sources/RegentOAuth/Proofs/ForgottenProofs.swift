package import RegentPairing

/// Which proofs without a nonce may have been taken before, though nothing here remembers them.
///
/// Such a proof counts by the time that it says, up to a minute from ours (``DPoPProof/window``). So what another
/// process took before this one says that it was made a minute after the start at the latest; and when the clock is set
/// back, times come again whose proofs ``DPoPReplay`` has forgotten. Who shows a proof of such a time is asked for a
/// nonce, which says that it is new.
package struct ForgottenProofs: Sendable {
  /// Memory outlasts corrections of this size: it is eleven minutes, and a proof counts for two.
  private static let correction = DPoPNonces.period

  private let start: Uptime
  /// What says that it was made until then may have been taken.
  private var floor: Instant
  /// The latest time that a proof said which was new.
  private var newest: Instant
  /// The reading of both clocks by which the wall clock is latest.
  private var latest: (wall: Instant, boot: Uptime)

  /// Begins with the process.
  package init(wall: Instant, boot: Uptime) {
    start = boot
    floor = wall + DPoPProof.window
    newest = floor
    latest = (wall, boot)
  }

  /// Whether a proof may be one of them; when it is not, its time is noted.
  package mutating func has(_ proof: DPoPProof, wall: Instant, boot: Uptime) -> Bool {
    let expected = latest.wall + boot.since(latest.boot)
    if wall < expected - Self.correction { floor = max(floor, newest) }
    if wall > expected || wall < expected - Self.correction { latest = (wall, boot) }
    // By a clock that was behind at the start and was put right since, the start was later.
    let began = wall - boot.since(start)
    guard proof.made > max(floor, began + DPoPProof.window) else { return true }
    newest = max(newest, proof.made)
    return false
  }
}
