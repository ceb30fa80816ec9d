package import RegentPairing

/// The proofs that were used: each counts once.
///
/// A proof counts for at most eleven minutes (``DPoPNonces``, ``SharedNonces``), so that is how long one is
/// remembered, by the boot clock: two halves of as much each, of which the older goes as a whole. Anybody can make
/// proofs with keys of their own, so only those are taken that belong to a request which already has shown something.
/// A token or an approved code has the rate of its device; a client of which there are many copies has none, so what
/// is asked for with it has places of its own, of which one source has a share. When a half is full, its newcomers
/// are refused for what is left of it and told to try again; nothing is forgotten to make room.
package struct DPoPReplay: Sendable {
  /// How long a half lasts: never shorter than a nonce counts.
  package static let half: Duration = DPoPNonces.period * 2 + SharedNonces.skew
  /// Most proofs of one half unless told otherwise: 2¹⁸, about 8 MiB for both.
  package static let usualCapacity = 262_144
  /// Most of those who ask for codes: more than there are codes at one time, and about 4 MiB for both halves.
  package static let usualAskers = 131_072
  /// How many sources it takes to fill the places of those who ask for codes: one has 12 in each second.
  static let sources = 16

  package enum Verdict: Sendable, Hashable {
    case fresh
    case used
    case full
  }

  /// Who came with a proof.
  package enum Owner: Sendable, Hashable {
    /// Who has shown a token, or a code that somebody approved.
    case signedIn
    /// Who asks for a code, from this source; none on a socket of the machine.
    case asker(SourceKey?)
  }

  private struct Half: Sendable {
    var signedIn: Set<UInt64> = []
    var askers: Set<UInt64> = []

    var count: Int { signedIn.count + askers.count }

    func contains(_ hash: UInt64) -> Bool { signedIn.contains(hash) || askers.contains(hash) }
  }

  private let capacity: Int
  private let askers: Int
  private var number: Int64 = .min
  private var current = Half()
  private var earlier = Half()
  /// How many places of the current half each source has taken; those that the hash puts there share one number.
  private var taken = [UInt32](repeating: 0, count: 4_096)

  package init(capacity: Int = DPoPReplay.usualCapacity, askers: Int = DPoPReplay.usualAskers) {
    self.capacity = max(capacity, 1)
    self.askers = max(askers, 1)
  }

  /// How many are remembered.
  package var count: Int { current.count + earlier.count }

  /// What taking a proof would say.
  package mutating func look(_ hash: UInt64, of owner: Owner, at now: Uptime) -> Verdict {
    let half = now.milliseconds / Self.half.wholeMilliseconds
    if half > number {
      earlier = half == number &+ 1 ? current : Half()
      current = Half()
      for place in taken.indices { taken[place] = 0 }
      number = half
    }
    if current.contains(hash) || earlier.contains(hash) { return .used }
    return hasRoom(for: owner) ? .fresh : .full
  }

  /// Takes a proof by a hash of its fingerprint, with a key of the process, so that nobody can choose two that collide.
  package mutating func take(_ hash: UInt64, of owner: Owner, at now: Uptime) -> Verdict {
    let verdict = look(hash, of: owner, at: now)
    guard verdict == .fresh else { return verdict }
    switch owner {
    case .signedIn: current.signedIn.insert(hash)
    case .asker(let source):
      current.askers.insert(hash)
      if let source { taken[place(of: source)] += 1 }
    }
    return .fresh
  }

  private func hasRoom(for owner: Owner) -> Bool {
    switch owner {
    case .signedIn: return current.signedIn.count < capacity
    case .asker(let source):
      guard current.askers.count < askers else { return false }
      return source.map { taken[place(of: $0)] < UInt32(clamping: max(askers / Self.sources, 1)) } ?? true
    }
  }

  private func place(of source: SourceKey) -> Int { Int(UInt(bitPattern: source.hashValue) % UInt(taken.count)) }
}
