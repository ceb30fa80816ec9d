package import RegentPairing

/// Detects proofs without a nonce that may have been used before, although ``DPoPReplay`` does not know them.
///
/// Such a proof is valid while its `iat` is within a minute of the service's clock (``DPoPProof/window``). There are
/// two dangers. A previous process may have accepted proofs with an `iat` of up to a minute after this process started.
/// And when the wall clock is set back, proofs that ``DPoPReplay`` has dropped become valid again. A client that sends
/// a proof with such an `iat` is asked to use a nonce.
package struct ForgottenProofs: Sendable {
  /// Smaller corrections of the clock are harmless: ``DPoPReplay`` keeps a proof for eleven minutes, and a proof
  /// without a nonce is valid for two.
  private static let correction = DPoPNonces.period

  private let start: Uptime
  /// Proofs with an `iat` up to this time may have been used before.
  private var floor: Instant
  /// The latest `iat` of a proof that was accepted.
  private var newest: Instant
  /// The reading of both clocks at which the wall clock was furthest ahead of the boot clock.
  private var latest: (wall: Instant, boot: Uptime)

  /// Records both clocks at the start of the process, when this must be called.
  package init(wall: Instant, boot: Uptime) {
    start = boot
    floor = wall + DPoPProof.window
    newest = floor
    latest = (wall, boot)
  }

  /// Whether the proof may have been used before.
  ///
  /// If not, the `iat` of the proof is recorded.
  package mutating func has(_ proof: DPoPProof, wall: Instant, boot: Uptime) -> Bool {
    let expected = latest.wall + boot.since(latest.boot)
    if wall < expected - Self.correction { floor = max(floor, newest) }
    if wall > expected || wall < expected - Self.correction { latest = (wall, boot) }
    // If the wall clock was slow at the start and was corrected since, the process started later than the clock said
    // then.
    let began = wall - boot.since(start)
    guard proof.made > max(floor, began + DPoPProof.window) else { return true }
    newest = max(newest, proof.made)
    return false
  }
}
