internal import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
internal import PairingStore
package import RegentPairing
internal import RegentPlatform

/// The nonces that signed requests have used: one ``ReplayWindow`` for each key.
///
/// A signature time may be up to five minutes in the future. After a restart, such a request could be replayed until
/// that time, because the new process would not know its nonce. The nonces of requests with a future time, and only
/// these, are therefore stored every minute and when the service stops. After a kill or power cut, those of the last
/// minute are missing. For five minutes after such a start, requests with a time in the future are refused; the client
/// then signs again with the time in the response's `Date` header.
package final class UsedNonces: Sendable {
  /// The `Retry-After` for a client whose nonce cannot be remembered, because there is no room.
  static let pause: Duration = .seconds(3)

  /// How far in the future a signature time may be during the first five minutes after a kill or power cut.
  ///
  /// Correct clocks differ by less.
  static let caution: Duration = .seconds(5)

  private let startedAt: Instant
  private let cautiousUntil: Instant?
  private let capacity: Int
  private let keys: Locked<[PublicKey: KeyNonces]>
  /// Reports used nonces to the other nodes; nil when this process is the only node.
  private let shared: BatchedSender<UsedNonce>?

  /// Starts with the nonces that earlier processes stored; `afterCut` says that the last process was killed.
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

  /// Checks whether a nonce may be used.
  ///
  /// `known` is the key's object, if the caller holds it from an earlier request.
  func check(
    _ nonce: Span<UInt8>, of key: PublicKey, _ known: KeyNonces? = nil, signedAt: Instant, from source: UInt64?,
    at now: Instant
  ) throws(SignatureRefusal) -> NonceUse {
    if let cautiousUntil, now < cautiousUntil, signedAt > now + Self.caution { throw .outsideWindow }
    // Swift seeds its hashes anew in every process, so an attacker cannot choose two nonces with equal hashes.
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

  /// Marks a nonce of a key as used.
  func take(_ use: NonceUse, of key: PublicKey, at now: Instant) throws(SignatureRefusal) {
    let use = try looking(use, key) { use throws(SignatureRefusal) in try use.nonces.take(use, at: now) }
    if let shared, let mark = use.mark { shared.add(UsedNonce(key: key, second: use.signedAt.second, mark: mark)) }
  }

  /// Runs `work` with the nonces of a key.
  ///
  /// If that object was removed in the meantime, `work` runs again with the current one.
  private func looking(
    _ use: NonceUse, _ key: PublicKey, _ work: (NonceUse) throws(SignatureRefusal) -> Bool
  ) throws(SignatureRefusal) -> NonceUse {
    var use = use
    while try !work(use) { use.nonces = nonces(of: key) }
    return use
  }

  /// Notes nonces that were used at other nodes.
  ///
  /// The database table with these nonces is not signed. An attacker who can write to it could add impossible times,
  /// which would push out valid entries. After an entry is pushed out, all requests with earlier times are refused.
  /// Impossible times are therefore ignored.
  func note(_ nonces: [UsedNonce], at now: Instant) {
    // A correct signature time can differ from this node's clock by at most this much: the window for signatures, and
    // the largest difference between the clocks of two nodes.
    let span = SignaturePolicy.window * 2
    let near = (now - span).second...(now + span).second
    for nonce in nonces where near.contains(nonce.second) { while !self.nonces(of: nonce.key).note(nonce) {} }
  }

  /// Removes nonces that are too old to be replayed, and those of keys that no longer exist.
  func sweep(keeping keys: some Sequence<PublicKey>, at now: Instant) {
    let kept = Set(keys)
    self.keys.withLock { keys in
      for (key, nonces) in keys where !nonces.sweep(isKept: kept.contains(key), at: now) { keys[key] = nil }
    }
  }

  /// Until when honest requests are refused because the clock was set back; nil when they are not.
  package var closedUntil: Instant? {
    keys.withLock { $0.values.compactMap(\.closedUntil).max() }
  }

  /// The nonces that must survive a restart, as text that ``init(startingAt:keptAs:capacity:)`` reads.
  ///
  /// They include those that were read from the text of earlier processes, as long as they can be replayed.
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

  /// The number by which a nonce is stored and sent to other nodes.
  ///
  /// Unlike Swift's hash, it is the same in every process.
  private static func mark(_ nonce: Span<UInt8>) -> UInt64 {
    SHA256.hash(nonce).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A nonce that was checked and is not yet marked as used.
struct NonceUse: Sendable {
  fileprivate(set) var nonces: KeyNonces
  let hash: UInt64
  /// The hash of the nonce, to store or to send to other nodes; nil when neither is needed.
  let mark: UInt64?
  let signedAt: Instant
  let source: UInt64?
}
