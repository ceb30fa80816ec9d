package import RegentCryptography
internal import RegentEncodings
package import RegentPairing

/// DPoP nonces that every node of a service accepts, whichever node issued them.
///
/// Two machines have no common boot clock, so these nonces are derived from the wall clock and a key that the nodes
/// share. A node remembers used proofs only for as long as they are valid, and only in memory. A nonce must therefore
/// not become valid again after a restart, or when the wall clock is set back and a period repeats. In periods that may
/// repeat, a node neither issues nor accepts shared nonces; it uses its own ``DPoPNonces``, which depend on the boot
/// clock of one process.
package struct SharedNonces: Sendable {
  /// The difference between the clocks of two nodes that is tolerated.
  package static let skew: Duration = .seconds(60)

  private let key: HMACKey
  /// The latest wall-clock time that this node has seen.
  private var latest: Instant?
  /// Five-minute periods up to this number may repeat: this node, or its process before a restart, may have been in
  /// them already.
  private var floor: Int64 = .min

  /// - Parameter key: the same on all nodes and after restarts.
  package init(_ key: HMACKey) { self.key = key }

  /// The shared nonce that this node issues now, or `nil` in a period that may repeat.
  package mutating func current(at now: Instant) -> String? {
    let number = look(at: now)
    return number > floor ? nonce(of: number) : nil
  }

  /// Whether a node issued the nonce in this five-minute period or in the previous one.
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
      // The process that ran before a restart may have accepted proofs in this period.
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
