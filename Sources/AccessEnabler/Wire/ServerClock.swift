import RegentHTTPClient
import RegentPairing
import RegentPlatform

/// The time of the services, because a box without a battery clock starts in 1970.
///
/// The `Date` of the first response sets this clock, and the boot-time clock then advances it. So later changes of the
/// wall clock do not affect expiries. Before the first response the wall clock is used.
final class ServerClock: Sendable {
  private struct Anchor: Sendable {
    var server: Int64
    var uptime: UInt64
  }

  private struct ServerClockState: Sendable {
    var main: Anchor?
    /// The clocks of services whose time differs from the main one.
    ///
    /// A service that refuses a signed request shows its time with the refusal.
    var own: [String: Anchor] = [:]
    var isWarned = false
  }

  private let wall: @Sendable () -> Int64
  private let uptime: @Sendable () -> UInt64
  private let state = Locked(ServerClockState())

  /// Smaller differences between a `Date` and this clock are ignored, in milliseconds: a `Date` has whole seconds and
  /// arrives a moment later.
  private static let tolerance: Int64 = 5_000
  /// A device clock that is further off than this, in milliseconds, is wrong: services refuse its signed requests.
  private static let wrong: Int64 = 300_000

  init(
    wall: @escaping @Sendable () -> Int64,
    uptime: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }
  ) {
    self.wall = wall
    self.uptime = uptime
  }

  /// This device's own clock, in seconds since 1970, right or wrong.
  var wallSeconds: Int64 { wall() / 1_000 }

  /// The time with which expiries are compared.
  var now: Instant { Instant(milliseconds: state.withLock { time($0.main) }) }

  /// The time with which a request to this service is signed.
  func now(for service: String) -> Instant {
    Instant(milliseconds: state.withLock { time($0.own[service] ?? $0.main) })
  }

  /// Learns the time from the `Date` of a response.
  ///
  /// - Returns: true once, if this device's clock is so wrong that the app should be told.
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

  /// Learns from the `Date` of a service that refused a signed request.
  ///
  /// The next signature is not older than that `Date`.
  ///
  /// Unlike in `learn`, small differences count: a service that has just started refuses requests signed before its
  /// start, and a `Date` drops the fraction of a second.
  func correct(_ service: String, _ date: Int64) {
    state.withLock { state in
      let here = time(state.own[service] ?? state.main)
      let isClose = abs(here &- date) <= Self.tolerance
      state.own[service] = Anchor(
        server: isClose ? max(here, date &+ 1_000) : date, uptime: uptime())
    }
  }

  /// Changes an invalid-certificate failure to a wrong clock, if earlier responses show that this device's clock is
  /// wrong.
  ///
  /// The service whose certificate failed has sent no time.
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
