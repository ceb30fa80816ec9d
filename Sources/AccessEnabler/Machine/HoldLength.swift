import RegentPairing

/// How long answers may be held, learned from a proxy on the way that gives up sooner than the service answers.
///
/// Without it a box behind a proxy with a limit of ten seconds is told "unreachable" every eleven, and asks as often
/// as if nothing were held at all.
struct HoldLength: Hashable, Sendable {
  /// What to ask for, in whole seconds; none as long as nobody gave up.
  private(set) var seconds: Int?

  /// Takes a held call that failed.
  ///
  /// - Parameters:
  ///   - failure: how.
  ///   - elapsed: how long it was held.
  ///   - usual: what is asked for when nothing was learned.
  /// - Returns: whether a shorter wait is worth a try, which nobody needs to be told of.
  mutating func shorten(_ failure: ServiceFailure, after elapsed: Duration, usual: Int) -> Bool {
    let (held, asked) = (Int(clamping: elapsed.components.seconds), seconds ?? usual)
    // 504 and 408 are what proxies say. Some only hang up, as a broken network does: of longer waits that is believed.
    let isSaid = failure.status == 504 || failure.status == 408
    guard isSaid || failure.kind == .unreachable else { return false }
    let shorter = max(isSaid ? 1 : 3, min(held, asked) * 3 / 4)
    guard held <= asked, held >= (isSaid ? 2 : 3), shorter < asked else { return false }
    seconds = shorter
    return true
  }
}
