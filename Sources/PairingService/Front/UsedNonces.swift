internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
internal import PairingStore
package import RegentPairing
internal import RegentPlatform

/// The nonces that signed calls have used: a ``ReplayWindow`` for each key.
///
/// A call may say that it was signed up to five minutes from now, and could be repeated until then by a service that
/// was started anew and does not know it. So the nonces of such calls, and of no others, are written down at each stop
/// and every minute. After a kill or a power cut those of the last minute are missing: for one window, calls dated
/// ahead are refused then, and the client signs again by the reply's `Date`.
package final class UsedNonces: Sendable {
  /// For how long a caller stays away for whose nonce there is no room.
  static let pause: Duration = .seconds(3)

  /// How far ahead a call may be dated in that window: clocks that are right differ by less.
  static let caution: Duration = .seconds(5)

  private let startedAt: Instant
  private let cautiousUntil: Instant?
  private let capacity: Int
  private let keys: Locked<[PublicKey: KeyNonces]>
  /// Where other nodes are told; nil where there is none.
  private let shared: BatchedSender<UsedNonce>?

  /// What earlier processes kept, and nothing else; `afterCut` when the last one did not stop by itself.
  init(
    startingAt start: Instant, keptAs texts: [String], afterCut: Bool = false, capacity: Int,
    sharedBy shared: BatchedSender<UsedNonce>? = nil
  ) {
    startedAt = start
    cautiousUntil = afterCut ? start + SignaturePolicy.window : nil
    self.capacity = capacity
    self.shared = shared
    let earlier = texts.map { Self.marks(in: $0, after: start) }
      .reduce(into: [:]) { $0.merge($1) { $0.merging($1) { $0.union($1) } } }
    keys = Locked(earlier.mapValues { KeyNonces(startingAt: start, capacity: capacity, earlier: $0) })
  }

  private func nonces(of key: PublicKey) -> KeyNonces {
    keys.withLock { keys in
      if let known = keys[key] { return known }
      let new = KeyNonces(startingAt: startedAt, capacity: capacity)
      keys[key] = new
      return new
    }
  }

  /// Looks whether a nonce can be taken, as far as its time and its having been used are concerned; `known` is what
  /// the caller has of the key from an earlier call.
  func check(
    _ nonce: Span<UInt8>, of key: PublicKey, _ known: KeyNonces? = nil, signedAt: Instant, from source: UInt64?,
    at now: Instant
  ) throws(SignatureRefusal) -> NonceUse {
    if let cautiousUntil, now < cautiousUntil, signedAt > now + Self.caution { throw .outsideWindow }
    // Swift's hash is keyed anew in every process: nobody can choose two nonces that collide.
    var hasher = Hasher()
    hasher.combine(nonce)
    let hash = UInt64(bitPattern: Int64(hasher.finalize()))
    let isTold = shared != nil || signedAt.second > now.second
    let use = NonceUse(
      nonces: known ?? nonces(of: key), hash: hash, mark: isTold ? Self.mark(nonce) : nil, signedAt: signedAt,
      source: source)
    return try looking(use, key) { use throws(SignatureRefusal) in
      try use.nonces.check(use, at: now) { use.mark ?? Self.mark(nonce) }
    }
  }

  /// Takes a nonce.
  func take(_ use: NonceUse, of key: PublicKey, at now: Instant) throws(SignatureRefusal) {
    let use = try looking(use, key) { use throws(SignatureRefusal) in try use.nonces.take(use, at: now) }
    if let shared, let mark = use.mark { shared.add(UsedNonce(key: key, second: use.signedAt.second, mark: mark)) }
  }

  /// Does something with the nonces of a key; with those that are now, if the ones it has were let go.
  private func looking(
    _ use: NonceUse, _ key: PublicKey, _ work: (NonceUse) throws(SignatureRefusal) -> Bool
  ) throws(SignatureRefusal) -> NonceUse {
    var use = use
    while try !work(use) { use.nonces = nonces(of: key) }
    return use
  }

  /// Remembers what calls at other nodes have used.
  ///
  /// The table that they came through is not signed: times that no call can have would take the places of those that
  /// count, and whoever forgets one refuses all that were signed before.
  func note(_ nonces: [UsedNonce], at now: Instant) {
    // As far off as two clocks may be together.
    let span = SignaturePolicy.window * 2
    let near = (now - span).second...(now + span).second
    for nonce in nonces where near.contains(nonce.second) { while !self.nonces(of: nonce.key).note(nonce) {} }
  }

  /// Lets go of what nobody needs.
  func sweep(keeping keys: some Sequence<PublicKey>, at now: Instant) {
    let kept = Set(keys)
    self.keys.withLock { keys in
      for (key, nonces) in keys where !nonces.sweep(isKept: kept.contains(key), at: now) { keys[key] = nil }
    }
  }

  /// Until when honest calls are refused because the clock was set back; nil when they are not.
  package var closedUntil: Instant? {
    keys.withLock { $0.values.compactMap(\.closedUntil).max() }
  }

  /// What ``init(startingAt:keptAs:capacity:)`` reads; what was read, too, as long as it may be needed.
  func text(at now: Instant) -> String {
    let kept = self.keys.withLock { $0.mapValues { $0.marks(after: now.second) } }.filter { !$0.value.isEmpty }
    let keys = kept.sorted { $0.key < $1.key }.map { key, seconds in
      let marks = seconds.sorted { $0.key < $1.key }.map { second, marks in
        JSONObject.Member(
          "\(second)", .string(marks.sorted().map { Self.text(of: $0) }.joined()))
      }
      return JSONObject.Member(key.text, .object(JSONObject(marks)))
    }
    return JSONValue.object(JSONObject(keys)).description
  }

  private static func marks(in text: String, after start: Instant)
    -> [PublicKey: [Int64: Set<UInt64>]]
  {
    var found: [PublicKey: [Int64: Set<UInt64>]] = [:]
    for member in (try? JSONValue(reading: text, limits: JSONLimits(bytes: 1 << 30)).object)?.members ?? [] {
      guard let key = PublicKey(member.name), let seconds = member.value.object else { continue }
      for entry in seconds.members {
        guard let second = Int64(entry.name), second >= start.second, let text = entry.value.string
        else { continue }
        let digits = Array(text.utf8)
        found[key, default: [:]][second] = Set(
          stride(from: 0, through: digits.count - markDigits, by: markDigits).compactMap {
            UInt64(String(decoding: digits[$0..<$0 + markDigits], as: UTF8.self), radix: 16)
          })
      }
    }
    return found
  }

  private static let markDigits = 16

  private static func text(of mark: UInt64) -> String {
    let digits = String(mark, radix: 16)
    return String(repeating: "0", count: markDigits - digits.count) + digits
  }

  /// The same in every process.
  private static func mark(_ nonce: Span<UInt8>) -> UInt64 {
    SHA256.hash(nonce).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A nonce that was good when it was looked at.
struct NonceUse: Sendable {
  fileprivate(set) var nonces: KeyNonces
  let hash: UInt64
  /// What is written down or told of it, if anything is.
  let mark: UInt64?
  let signedAt: Instant
  let source: UInt64?
}
