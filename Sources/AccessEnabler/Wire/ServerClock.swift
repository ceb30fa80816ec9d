import RegentHTTPClient
import RegentPairing
import RegentPlatform

/// The time as services see it: a box without a battery clock starts in 1970.
///
/// The first answer's `Date` is the anchor, and the boot-time clock counts from there: whatever happens to the wall
/// clock afterwards, expiries are judged rightly. Before the first answer the wall clock is all there is.
final class ServerClock: Sendable {
  private struct Anchor: Sendable {
    var server: Int64
    var uptime: UInt64
  }

  private struct State: Sendable {
    var main: Anchor?
    /// Services whose clock was found to be another when they refused a signed call.
    var own: [String: Anchor] = [:]
    var isWarned = false
  }

  private let wall: @Sendable () -> Int64
  private let uptime: @Sendable () -> UInt64
  private let state = Locked(State())

  /// A `Date` has whole seconds and was written a moment ago: less than this is no difference.
  private static let tolerance: Int64 = 5_000
  /// What makes a clock wrong: signed calls are refused from here on.
  private static let wrong: Int64 = 300_000

  init(
    wall: @escaping @Sendable () -> Int64,
    uptime: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }
  ) {
    self.wall = wall
    self.uptime = uptime
  }

  /// The time for judging expiries.
  var now: Instant { Instant(milliseconds: state.withLock { time($0.main) }) }

  /// The time for signing a call to a service.
  func now(for service: String) -> Instant {
    Instant(milliseconds: state.withLock { time($0.own[service] ?? $0.main) })
  }

  /// Takes a service's `Date`.
  ///
  /// - Returns: whether this device's clock is so wrong that the app should hear of it, the first time.
  func learn(_ date: Int64) -> Bool {
    let here = wall()
    return state.withLock { state in
      if abs(time(state.main) &- date) > Self.tolerance || state.main == nil {
        let isRight = state.main == nil && abs(here &- date) <= Self.tolerance
        state.main = Anchor(server: isRight ? here : date, uptime: uptime())
      }
      guard !state.isWarned, abs(here &- date) > Self.wrong else { return false }
      state.isWarned = true
      return true
    }
  }

  /// Takes the `Date` of a service that refused a signed call: what is signed from now on is no older than that.
  ///
  /// Small differences count, too: a service that has just started refuses what was signed before its start, and a
  /// `Date` leaves out the part of a second in which that was.
  func correct(_ service: String, _ date: Int64) {
    state.withLock { state in
      let here = time(state.own[service] ?? state.main)
      let isClose = abs(here &- date) <= Self.tolerance
      state.own[service] = Anchor(
        server: isClose ? max(here, date &+ 1_000) : date, uptime: uptime())
    }
  }

  /// Says that this device's clock is wrong where a certificate seemed to be, when the clocks of other services, or an
  /// earlier answer, show that; the service that was called did not say its time.
  func judged(_ failure: ServiceFailure) -> ServiceFailure {
    guard let main = state.withLock({ $0.main }) else { return failure }
    let ahead = wall() &- time(main)
    let fault: ClientError.TLSFault
    switch failure.fault {
    case .expired where ahead > Self.wrong: fault = .clockAhead
    case .notYetValid where ahead < -Self.wrong: fault = .clockBehind
    default: return failure
    }
    var judged = failure
    judged.kind = .clockWrong
    judged.fault = fault
    judged.message = fault.description
    return judged
  }

  private func time(_ anchor: Anchor?) -> Int64 {
    guard let anchor else { return wall() }
    return anchor.server &+ Int64(clamping: (uptime() &- anchor.uptime) / 1_000_000)
  }
}
