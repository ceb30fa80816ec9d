import Pairing
import Platform

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

  /// Takes the `Date` of a service that refused a signed call.
  ///
  /// - Returns: whether that makes a difference: then the call is worth a second try.
  func correct(_ service: String, _ date: Int64) -> Bool {
    state.withLock { state in
      guard abs(time(state.own[service] ?? state.main) &- date) > Self.tolerance else {
        return false
      }
      state.own[service] = Anchor(server: date, uptime: uptime())
      return true
    }
  }

  private func time(_ anchor: Anchor?) -> Int64 {
    guard let anchor else { return wall() }
    return anchor.server &+ Int64(clamping: (uptime() &- anchor.uptime) / 1_000_000)
  }
}
