package import RegentPairing

/// The proofs that were used: each counts once.
///
/// A proof counts for at most ten minutes (``DPoPNonces``), so that is how long one is remembered, by the boot clock:
/// two halves of ten minutes each, of which the older goes as a whole. Anybody can make proofs with keys of their own,
/// so only those are taken that belong to a request which already has shown something: a client, a code, a token. When
/// a half is full, its newcomers are refused for what is left of it and told to try again; nothing is forgotten to make
/// room.
package struct DPoPReplay: Sendable {
  /// How long a half lasts: never shorter than a nonce counts.
  package static let half: Duration = DPoPNonces.period * 2
  /// Most proofs of one half unless told otherwise: 2¹⁸, about 8 MiB for both.
  package static let usualCapacity = 262_144

  package enum Verdict: Sendable, Hashable {
    case fresh
    case used
    case full
  }

  private let capacity: Int
  private var number: Int64 = .min
  private var current: Set<UInt64> = []
  private var earlier: Set<UInt64> = []

  package init(capacity: Int = DPoPReplay.usualCapacity) { self.capacity = max(capacity, 1) }

  /// How many are remembered.
  package var count: Int { current.count + earlier.count }

  /// Takes a proof by a hash of its fingerprint, with a key of the process, so that nobody can choose two that collide.
  package mutating func take(_ hash: UInt64, at now: Uptime) -> Verdict {
    let half = now.milliseconds / Self.half.wholeMilliseconds
    if half > number {
      earlier = half == number &+ 1 ? current : []
      current = []
      number = half
    }
    if current.contains(hash) || earlier.contains(hash) { return .used }
    guard current.count < capacity else { return .full }
    current.insert(hash)
    return .fresh
  }
}
