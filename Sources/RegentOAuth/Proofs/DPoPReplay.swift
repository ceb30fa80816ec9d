package import RegentPairing

/// Remembers the DPoP proofs that were used, so that each is accepted once.
///
/// A proof is valid for at most eleven minutes (``DPoPNonces``, ``SharedNonces``). Proofs are kept for at least that
/// long on the boot clock, in two halves of eleven minutes; the older half is dropped as a whole.
///
/// Every client can make proofs with a new key, so a proof is stored only after the rest of its request was accepted.
/// Requests with a token or an approved code are limited by the rate limit of their device, but a viewer may have a
/// hundred devices. While a half is more than half full, each viewer therefore gets only a share of it. Code requests
/// of a public client have no such limit, so they have a capacity of their own, of which each source address gets a
/// share. When a half is full, new proofs are refused until the next half begins, and the client is told to try again.
/// No entry is evicted to make room.
package struct DPoPReplay: Sendable {
  /// The time for which new proofs are stored in one half of the memory.
  ///
  /// After it, that half becomes the older one. The time must not be shorter than the time for which a nonce is valid.
  package static let half: Duration = DPoPNonces.period * 2 + SharedNonces.skew
  /// The default capacity of one half: 2¹⁸ proofs, about 8 MiB for both halves.
  package static let usualCapacity = 262_144
  /// The default capacity of one half for code requests.
  ///
  /// The capacity exceeds the number of codes that can exist at once. Both halves need about 4 MiB.
  package static let usualAskers = 131_072
  /// One source (client address) may use the capacity for code requests, divided by this number.
  ///
  /// Each source then has 12 requests a second.
  static let sources = 16
  /// While the capacity for clients with a token is more than half full, one viewer may use that capacity, divided by
  /// this number.
  static let viewers = 16

  package enum Verdict: Sendable, Hashable {
    case fresh
    case used
    case full
  }

  /// The part of the capacity against which a proof counts.
  package enum Owner: Sendable, Hashable {
    /// The proof came with a token or an approved code of this viewer. All guests of a provider are one viewer.
    case signedIn(Viewer)
    /// The proof came with a request for a code from this source address, or over a local socket if it is `nil`.
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
  /// How many proofs each source stored in the current half.
  ///
  /// Sources with the same hash value modulo the array's size share a counter.
  private var taken = [UInt32](repeating: 0, count: 4_096)
  /// How many proofs each viewer stored in the current half, counted in the same way as `taken`.
  private var takenByViewers = [UInt32](repeating: 0, count: 4_096)

  package init(capacity: Int = DPoPReplay.usualCapacity, askers: Int = DPoPReplay.usualAskers) {
    self.capacity = max(capacity, 1)
    self.askers = max(askers, 1)
  }

  /// How many proofs are remembered, in the current and the older half of the memory together.
  package var count: Int { current.count + earlier.count }

  /// Returns what ``take(_:of:at:)`` would return, without storing the proof.
  package mutating func look(_ hash: UInt64, of owner: Owner, at now: Uptime) -> Verdict {
    let half = now.milliseconds / Self.half.wholeMilliseconds
    if half > number {
      earlier = half == number &+ 1 ? current : Half()
      current = Half()
      for place in taken.indices { taken[place] = 0 }
      for place in takenByViewers.indices { takenByViewers[place] = 0 }
      number = half
    }
    if current.contains(hash) || earlier.contains(hash) { return .used }
    return hasRoom(for: owner) ? .fresh : .full
  }

  /// Stores a proof.
  ///
  /// `hash` must be a hash of the proof's fingerprint with a key of this process, so that an attacker cannot choose
  /// colliding proofs.
  package mutating func take(_ hash: UInt64, of owner: Owner, at now: Uptime) -> Verdict {
    let verdict = look(hash, of: owner, at: now)
    guard verdict == .fresh else { return verdict }
    switch owner {
    case .signedIn(let viewer):
      current.signedIn.insert(hash)
      takenByViewers[place(of: viewer)] += 1
    case .asker(let source):
      current.askers.insert(hash)
      if let source { taken[place(of: source)] += 1 }
    }
    return .fresh
  }

  private func hasRoom(for owner: Owner) -> Bool {
    switch owner {
    case .signedIn(let viewer):
      guard current.signedIn.count >= capacity / 2 else { return true }
      return current.signedIn.count < capacity
        && takenByViewers[place(of: viewer)] < UInt32(clamping: max(capacity / Self.viewers, 1))
    case .asker(let source):
      guard current.askers.count < askers else { return false }
      return source.map { taken[place(of: $0)] < UInt32(clamping: max(askers / Self.sources, 1)) } ?? true
    }
  }

  private func place(of sharer: some Hashable) -> Int { Int(UInt(bitPattern: sharer.hashValue) % UInt(taken.count)) }
}
