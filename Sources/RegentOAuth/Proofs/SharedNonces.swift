package import RegentCryptography
internal import RegentEncodings
package import RegentPairing

/// Nonces that all nodes of a service take, whichever of them gave them out.
///
/// Machines have no boot clock in common, so these are made of the wall clock, and of a key that the nodes share. A
/// node remembers the proofs that it took for as long as they count, and no nonce may count again once that is
/// forgotten: neither after a start, nor when the clock was set back and a time comes a second time. So a node
/// neither gives out nor takes nonces of a time that it may have lived before; until that is over it uses its own
/// (``DPoPNonces``), which count by the boot clock of one process.
package struct SharedNonces: Sendable {
  /// How far the clocks of two nodes may be from each other.
  package static let skew: Duration = .seconds(60)

  private let key: HMACKey
  /// The latest time that was seen.
  private var latest: Instant?
  /// Periods up to this one may have been lived before.
  private var floor: Int64 = .min

  /// - Parameter key: the same at all nodes, and over restarts.
  package init(_ key: HMACKey) { self.key = key }

  /// The nonce to give out now; nil while the time is one that may have been lived before.
  package mutating func current(at now: Instant) -> String? {
    let number = look(at: now)
    return number > floor ? nonce(of: number) : nil
  }

  /// Whether a nonce was given out by a node in this period or in the one before.
  package mutating func isValid(_ text: String, at now: Instant) -> Bool {
    guard look(at: now) > floor else { return false }
    let given = Array(text.utf8)
    var isGood = false
    for number in Self.number(now - DPoPNonces.period)...Self.number(now + Self.skew) where number > floor {
      if constantTimeEqual(given, Array(nonce(of: number).utf8)) { isGood = true }
    }
    return isGood
  }

  private mutating func look(at now: Instant) -> Int64 {
    let number = Self.number(now)
    guard let last = latest else {
      // Before this start the proofs of the same period may have been taken.
      (latest, floor) = (now, number)
      return number
    }
    if now < last - Self.skew { floor = max(floor, Self.number(last + Self.skew)) }
    latest = max(last, now)
    return number
  }

  private static func number(_ now: Instant) -> Int64 {
    let (period, time) = (DPoPNonces.period.wholeMilliseconds, now.milliseconds)
    return time / period - (time % period < 0 ? 1 : 0)
  }

  private func nonce(of number: Int64) -> String {
    var fields = FramedFields(purpose: "dpop-nonce-of-nodes", version: 1)
    fields.append(number)
    return Base64URL.encode(Array(key.code(fields.bytes).prefix(18)))
  }
}
