internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// The nonces that signed requests with one key have used, for ``UsedNonces``.
///
/// Clients that send requests repeatedly hold a reference to it. After it was removed from ``UsedNonces``, its
/// functions return false, and the caller must get the current object for the key: with two objects for one key, a
/// nonce could be used twice.
package final class KeyNonces: Sendable {
  /// The maximum number of marks (hashes of nonces) for one key: as many as the window accepts for times far ahead of
  /// now, and some more for the next seconds.
  private static let mostMarks = 32_768

  private struct KeyNoncesState {
    /// The window of used nonces; nil until the first request with the key.
    var window: ReplayWindow?
    /// The marks (hashes of nonces) of requests whose signature time is in the future, by that second.
    var ahead: [Int64: [UInt64]] = [:]
    var marks = 0
    /// The marks (hashes of nonces) that earlier processes had stored, by second.
    var earlier: [Int64: Set<UInt64>]
    /// The nonces of this key that were used at other nodes.
    var elsewhere: NoncesElsewhere?
    var isLetGo = false

    mutating func inWindow(
      or new: @autoclosure () -> ReplayWindow, _ use: (inout ReplayWindow) throws(SignatureRefusal) -> Void
    ) throws(SignatureRefusal) {
      var used = window.take() ?? new()
      defer { window = used }
      try use(&used)
    }
  }

  private let startedAt: Instant
  private let capacity: Int
  private let state: Locked<KeyNoncesState>

  init(startingAt start: Instant, capacity: Int, earlier: [Int64: Set<UInt64>] = [:]) {
    startedAt = start
    self.capacity = capacity
    state = Locked(KeyNoncesState(earlier: earlier))
  }

  private var newWindow: ReplayWindow { ReplayWindow(startingAt: startedAt, capacity: capacity) }

  /// Checks whether a nonce may be used.
  ///
  /// - Returns: false when this object was removed from ``UsedNonces``; the caller must get the current one.
  func check(_ use: NonceUse, at now: Instant, mark: () -> UInt64) throws(SignatureRefusal) -> Bool {
    try state.withLock { state throws(SignatureRefusal) in
      guard !state.isLetGo else { return false }
      let second = use.signedAt.second
      if let used = state.earlier[second], used.contains(mark()) { throw .replayed }
      if let elsewhere = state.elsewhere { try elsewhere.check(second, mark()) }
      try state.inWindow(or: newWindow) { window throws(SignatureRefusal) in
        try window.check(nonce: use.hash, signedAt: use.signedAt, at: now)
      }
      return true
    }
  }

  /// Marks a nonce as used; false when this object was removed from ``UsedNonces`` and the caller must get the current
  /// one.
  func take(_ use: NonceUse, at now: Instant) throws(SignatureRefusal) -> Bool {
    try state.withLock { state throws(SignatureRefusal) in
      guard !state.isLetGo else { return false }
      try state.inWindow(or: newWindow) { window throws(SignatureRefusal) in
        try window.accept(nonce: use.hash, from: use.source, signedAt: use.signedAt, at: now)
      }
      let second = use.signedAt.second
      guard let mark = use.mark, second > now.second, state.marks < Self.mostMarks else { return true }
      state.ahead[second, default: []].append(mark)
      state.marks += 1
      return true
    }
  }

  /// Notes a nonce that was used at another node; false when this object was removed from ``UsedNonces``.
  func note(_ nonce: UsedNonce) -> Bool {
    state.withLock { state in
      guard !state.isLetGo else { return false }
      if state.elsewhere == nil { state.elsewhere = NoncesElsewhere(capacity: capacity) }
      state.elsewhere?.add(nonce.second, nonce.mark)
      return true
    }
  }

  /// Removes nonces that are too old to be replayed.
  ///
  /// Returns false when no nonce is left and the key pair no longer exists, so that the caller can drop this object.
  func sweep(isKept: Bool, at now: Instant) -> Bool {
    // Requests with earlier times are refused because of their time, so their nonces need not be remembered.
    let over = (now - SignaturePolicy.window).second
    return state.withLock { state in
      state.window?.sweep(at: now)
      state.ahead = state.ahead.filter { $0.key > now.second }
      state.marks = state.ahead.values.reduce(0) { $0 + $1.count }
      state.elsewhere?.sweep(before: over)
      state.earlier = state.earlier.filter { $0.key >= over }
      guard !isKept else { return true }
      state.elsewhere = nil
      // The key pair may have been created, and used, after the caller read the list of key pairs. Its nonces must be
      // kept.
      guard state.window?.count ?? 0 == 0, state.ahead.isEmpty, state.earlier.isEmpty else { return true }
      state.window = nil
      state.isLetGo = true
      return false
    }
  }

  /// Until when all honest requests with this key are refused because the clock was set back; nil when they are not.
  var closedUntil: Instant? { state.withLock { $0.window?.closedUntil } }

  /// The marks (hashes of nonces) to store, by second: those of requests whose signature time is later than `now`.
  func marks(after now: Int64) -> [Int64: [UInt64]] {
    state.withLock { state in
      state.earlier.mapValues(Array.init).merging(state.ahead) { $0 + $1 }.filter { $0.key > now }
    }
  }
}
