import RegentPairing

/// How long answers may be held, learned from a proxy on the way that gives up sooner than the service answers.
///
/// Without it a box behind a proxy with a limit of ten seconds is told "unreachable" every eleven, and asks as often
/// as if nothing were held at all. A service that was killed looks the same from here, so after some answers that came
/// in time a longer wait is tried, rarer each time that it is cut.
struct HoldLength: Hashable, Sendable {
  /// What to ask for, in whole seconds; none as long as nobody gave up.
  private(set) var seconds: Int?
  /// Answers since the last change that were held to their end.
  private var inTime = 0
  /// After so many of them a longer wait is tried.
  private var trust = 8
  private static let mostTrust = 512
  /// Whether what is asked for now is such a try.
  private var isTrial = false

  /// Takes a held call that was answered because its time was up.
  mutating func lasted(_ elapsed: Duration, usual: Int) {
    // Services answer up to an eighth sooner than they were asked to; what comes before that is news.
    guard let asked = seconds, elapsed >= .seconds(asked) * 3 / 4 else { return }
    isTrial = false
    inTime += 1
    guard inTime >= trust else { return }
    let longer = asked * 4 / 3 + 1
    (seconds, inTime, isTrial) = (longer < usual ? longer : nil, 0, true)
  }

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
    // A busy service answers a second late, and a proxy cuts just then. Far later it is the service that hangs.
    guard held <= asked + max(1, asked / 4), held >= (isSaid ? 2 : 3), shorter < asked else { return false }
    if isTrial { trust = min(2 * trust, Self.mostTrust) }
    (seconds, inTime, isTrial) = (shorter, 0, false)
    return true
  }
}
