import RegentPairing

/// How long answers may be held, learned from a proxy on the way that gives up sooner than the service answers.
///
/// Without it a box behind a proxy with a limit of ten seconds is told "unreachable" every eleven, and asks as often
/// as if nothing were held at all.
struct HoldLength: Hashable, Sendable {
  /// What to ask for, in whole seconds; none as long as nobody gave up.
  private(set) var seconds: Int?

  /// Less is no wait any more but a fault of the network or of the service.
  static let shortest = 3

  /// Takes a held call that failed.
  ///
  /// - Parameters:
  ///   - failure: how.
  ///   - elapsed: how long it was held.
  ///   - usual: what is asked for when nothing was learned.
  /// - Returns: whether a shorter wait is worth a try, which nobody needs to be told of.
  mutating func shorten(_ failure: ServiceFailure, after elapsed: Duration, usual: Int) -> Bool {
    // 504 and 408 are what proxies say; some only hang up.
    guard failure.status == 504 || failure.status == 408 || failure.kind == .unreachable else { return false }
    let held = Int(clamping: elapsed.components.seconds)
    let asked = seconds ?? usual
    let shorter = min(held, asked) * 3 / 4
    guard held <= asked, held >= Self.shortest, shorter < asked else { return false }
    seconds = max(Self.shortest, shorter)
    return asked > Self.shortest
  }
}
