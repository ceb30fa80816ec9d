/// The nonces that one key has used: each is accepted once, within a bounded memory.
///
/// Nonces are kept by the second in which the caller says it signed. As long as there is room, the window is the whole
/// ±5 minutes; when it is full, the oldest second goes **and the window shrinks behind it**: headers of that time are
/// refused from then on instead of being forgotten, which would let an attacker replay one after flooding the memory.
/// A new window starts at the service's start for the same reason: what was used before is not known any more.
///
/// When the clock is set back (a machine whose clock was ahead at boot), times that this window has let go come once
/// more: it then begins anew at the time that the clock says, as after a start, but never before what it has forgotten.
///
/// Insert only after the signature has been checked; otherwise strangers could fill it.
public struct ReplayWindow: Sendable {
  /// How many nonces one key's window holds unless told otherwise: 2¹⁸, about 8 MiB when full.
  public static let usualCapacity = 262_144

  /// Clocks are read on several threads; a difference below this is their order, above it somebody set the clock.
  private static let tolerance: Int64 = 2

  private let capacity: Int
  /// The latest second of the service's clock.
  private var latest: Int64
  /// The latest second of which a nonce was let go.
  private var forgotten = Int64.min
  /// Headers of earlier seconds are refused.
  private var floor: Int64
  private var seconds: [Int64: [UInt64]] = [:]
  private var used: Set<UInt64> = []

  /// A window that accepts headers signed at `start` or later.
  public init(startingAt start: Instant, capacity: Int = ReplayWindow.usualCapacity) {
    self.capacity = max(capacity, 1)
    floor = start.second
    latest = start.second
  }

  /// Takes a nonce, or says why not.
  ///
  /// - Parameters:
  ///   - nonce: a hash of the nonce with a key of the process, so that nobody can choose two that collide.
  ///   - requestTime: when the caller says it signed.
  ///   - now: the service's clock.
  /// - Throws: `replayed`, or `outsideWindow` for a time that is not (any more) remembered.
  public mutating func accept(nonce: UInt64, signedAt requestTime: Instant, at now: Instant)
    throws(SignatureRefusal)
  {
    let age = now.since(requestTime)
    guard age <= SignaturePolicy.window, age >= .zero - SignaturePolicy.window else {
      throw .outsideWindow
    }
    follow(now.second)
    forget(before: (now - SignaturePolicy.window).second)
    let second = requestTime.second
    guard second >= floor else { throw .outsideWindow }
    // One look-up for "is it there" and "put it there": in a full window each of them waits for memory.
    guard used.insert(nonce).inserted else { throw .replayed }
    if used.count > capacity {
      shrink()
      guard second >= floor, used.count <= capacity else {
        used.remove(nonce)
        throw .outsideWindow
      }
    }
    seconds[second, default: []].append(nonce)
  }

  /// Notices a clock that was set back.
  ///
  /// What is remembered stays remembered. Refused is what was signed before this moment, which an earlier process may
  /// have accepted, and whatever is not after all that this one has accepted and forgotten.
  private mutating func follow(_ second: Int64) {
    if second < latest - Self.tolerance {
      floor = max(second, forgotten + 1)
      latest = second
    }
    latest = max(latest, second)
  }

  /// Lets go of seconds whose headers the clock window refuses anyway.
  private mutating func forget(before second: Int64) {
    guard second > floor else { return }
    // A jump of the clock must not make this loop long; the memory holds few seconds, time holds many.
    if second - floor > 1200 {
      for old in seconds.keys where old < second { drop(old) }
      floor = second
    }
    while floor < second {
      drop(floor)
      floor += 1
    }
  }

  /// Gives up the oldest second that holds anything.
  private mutating func shrink() {
    guard let oldest = seconds.keys.min() else { return }
    drop(oldest)
    floor = oldest + 1
  }

  private mutating func drop(_ second: Int64) {
    guard let gone = seconds.removeValue(forKey: second) else { return }
    forgotten = max(forgotten, second)
    used.subtract(gone)
  }
}

extension Instant {
  /// The second that this lies in, also before 1970.
  fileprivate var second: Int64 {
    let quotient = milliseconds / 1000
    return milliseconds % 1000 < 0 ? quotient - 1 : quotient
  }
}
