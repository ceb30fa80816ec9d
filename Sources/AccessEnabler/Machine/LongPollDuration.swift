import RegentPairing

/// How long to ask the service to hold a long poll, shortened if a proxy on the way closes connections earlier.
///
/// Otherwise a box behind a proxy with a timeout of ten seconds would report "unreachable" every eleven seconds, and
/// would send as many requests as without long polls.
///
/// The box cannot distinguish such a proxy from a service that was killed. So after some long polls that were not cut,
/// it tries a longer one again; after each cut it waits for more of them.
struct LongPollDuration: Hashable, Sendable {
  /// The number of seconds to ask for; nil while no long poll was cut.
  private(set) var seconds: Int?
  /// The number of long polls since the last change of the duration that were not cut.
  private var inTime = 0
  /// After this number of long polls that were not cut, a longer one is tried.
  private var trust = 8
  private static let mostTrust = 512
  /// Whether the current duration is a longer one that is being tried.
  private var isTrial = false

  /// Records a long poll that the service held to its end.
  mutating func lasted(_ elapsed: Duration, usual: Int) {
    // The service ends a long poll up to an eighth earlier than asked. One that ends much earlier reported a change of
    // the code.
    guard let asked = seconds, elapsed >= .seconds(asked) * 3 / 4 else { return }
    isTrial = false
    inTime += 1
    guard inTime >= trust else { return }
    let longer = asked * 4 / 3 + 1
    (seconds, inTime, isTrial) = (longer < usual ? longer : nil, 0, true)
  }

  /// Records a long poll that failed.
  ///
  /// - Parameters:
  ///   - failure: how it failed.
  ///   - elapsed: how long it lasted.
  ///   - usual: the seconds to ask for while ``seconds`` is nil.
  /// - Returns: whether a shorter long poll should be tried. If so, the failure is not reported to the app.
  mutating func shorten(_ failure: ServiceFailure, after elapsed: Duration, usual: Int) -> Bool {
    let (held, asked) = (Int(clamping: elapsed.components.seconds), seconds ?? usual)
    // Proxies answer 504 or 408 at a timeout. Some only close the connection, as a broken network does; that counts
    // as a timeout only after three seconds or more.
    let isSaid = failure.status == 504 || failure.status == 408
    guard isSaid || failure.absence == .lost || failure.absence == .silent else { return false }
    let shorter = max(isSaid ? 1 : 3, min(held, asked) * 3 / 4)
    // Shorten the poll only if a proxy may have cut it. A poll that lasted far longer than requested shows that the
    // service hangs, and a shorter poll would not help. A quarter more is accepted, because a busy service may answer
    // late.
    guard held <= asked + max(1, asked / 4), held >= (isSaid ? 2 : 3), shorter < asked else { return false }
    if isTrial { trust = min(2 * trust, Self.mostTrust) }
    (seconds, inTime, isTrial) = (shorter, 0, false)
    return true
  }
}
