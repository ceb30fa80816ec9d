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
/// and every minute.
package final class UsedNonces: Sendable {
  /// For how long a caller stays away for whose nonce there is no room.
  static let pause: Duration = .seconds(3)
  /// Marks of one key: as many as there is room for far ahead of now, and some more for seconds that are near.
  private static let mostMarks = 32_768

  private struct State {
    var windows: [PublicKey: ReplayWindow] = [:]
    /// Of calls that were signed later than they came, by the second of their signature.
    var ahead: [PublicKey: [Int64: [UInt64]]] = [:]
    var marks: [PublicKey: Int] = [:]
    /// The same of the process before.
    var earlier: [PublicKey: [Int64: Set<UInt64>]]
    /// What was used at other nodes.
    var elsewhere: [PublicKey: NoncesElsewhere] = [:]
  }

  private let startedAt: Instant
  private let capacity: Int
  private let state: Locked<State>
  /// Where other nodes are told; nil where there is none.
  private let shared: BatchedSender<UsedNonce>?

  /// What earlier processes kept, and nothing else.
  init(
    startingAt start: Instant, keptAs texts: [String], capacity: Int, sharedBy shared: BatchedSender<UsedNonce>? = nil
  ) {
    startedAt = start
    self.capacity = capacity
    self.shared = shared
    let earlier = texts.map { Self.marks(in: $0, after: start) }
    state = Locked(
      State(earlier: earlier.reduce(into: [:]) { $0.merge($1) { $0.merging($1) { $0.union($1) } } }))
  }

  /// Whether a nonce can be taken, as far as its time and its having been used are concerned.
  func check(_ call: SignedCall, _ hash: UInt64, at now: Instant) throws(SignatureRefusal) {
    let (key, signedAt) = (call.publicKey, call.requestTime)
    try state.withLock { state throws(SignatureRefusal) in
      if let used = state.earlier[key]?[signedAt.second], used.contains(Self.mark(call.nonce)) {
        throw .replayed
      }
      if let elsewhere = state.elsewhere[key] { try elsewhere.check(signedAt.second, Self.mark(call.nonce)) }
      try state.windows[key, default: ReplayWindow(startingAt: startedAt, capacity: capacity)]
        .check(nonce: hash, signedAt: signedAt, at: now)
    }
  }

  /// Takes a nonce.
  func take(
    _ call: SignedCall, _ hash: UInt64, from source: UInt64?, at now: Instant
  ) throws(SignatureRefusal) {
    let (key, signedAt) = (call.publicKey, call.requestTime)
    let second = signedAt.second
    let mark = second > now.second || shared != nil ? Self.mark(call.nonce) : nil
    try state.withLock { state throws(SignatureRefusal) in
      try state.windows[key, default: ReplayWindow(startingAt: startedAt, capacity: capacity)]
        .accept(nonce: hash, from: source, signedAt: signedAt, at: now)
      guard let mark, second > now.second, state.marks[key, default: 0] < Self.mostMarks else { return }
      state.ahead[key, default: [:]][second, default: []].append(mark)
      state.marks[key, default: 0] += 1
    }
    if let shared, let mark { shared.add(UsedNonce(key: key, second: second, mark: mark)) }
  }

  /// Remembers what calls at other nodes have used.
  func note(_ nonces: [UsedNonce]) {
    guard !nonces.isEmpty else { return }
    state.withLock { state in
      for nonce in nonces {
        state.elsewhere[nonce.key, default: NoncesElsewhere(capacity: capacity)].add(nonce.second, nonce.mark)
      }
    }
  }

  /// Lets go of what nobody needs.
  func sweep(keeping keys: some Sequence<PublicKey>, at now: Instant) {
    let keys = Set(keys)
    state.withLock { state in
      for key in state.windows.keys {
        if keys.contains(key) {
          state.windows[key]?.sweep(at: now)
        } else {
          state.windows[key] = nil
        }
      }
      state.ahead = state.ahead.compactMapValues { seconds in
        let left = seconds.filter { $0.key > now.second }
        return left.isEmpty ? nil : left
      }
      state.marks = state.ahead.mapValues { $0.values.reduce(0) { $0 + $1.count } }
      // Beyond their window the times themselves are refused.
      let over = (now - SignaturePolicy.window).second
      for key in state.elsewhere.keys {
        state.elsewhere[key]?.sweep(before: over)
        if !keys.contains(key) { state.elsewhere[key] = nil }
      }
      state.earlier = state.earlier.compactMapValues { seconds in
        let left = seconds.filter { $0.key >= over }
        return left.isEmpty ? nil : left
      }
    }
  }

  /// Until when honest calls are refused because the clock was set back; nil when they are not.
  package var closedUntil: Instant? {
    state.withLock { $0.windows.values.compactMap(\.closedUntil).max() }
  }

  /// What ``init(startingAt:keptAs:capacity:)`` reads; what was read, too, as long as it may be needed.
  func text(at now: Instant) -> String {
    var kept = state.withLock { state in
      state.earlier.mapValues { seconds in seconds.mapValues(Array.init) }
        .merging(state.ahead) { $0.merging($1, uniquingKeysWith: +) }
    }
    kept = kept.mapValues { $0.filter { $0.key > now.second } }.filter { !$0.value.isEmpty }
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
  private static func mark(_ nonce: String) -> UInt64 {
    SHA256.hash(Array(nonce.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
