internal import RegentPairing
internal import PairingStore
internal import RegentPlatform

/// The nonces that calls of one key have used, for ``UsedNonces``.
///
/// Whoever calls again and again keeps it. When it has been let go it says so, and is looked for anew: two of one key
/// would take a nonce twice.
package final class KeyNonces: Sendable {
  /// Marks of one key: as many as there is room for far ahead of now, and some more for seconds that are near.
  private static let mostMarks = 32_768

  private struct State {
    /// Made with the first call of the key.
    var window: ReplayWindow?
    /// Of calls that were signed later than they came, by the second of their signature.
    var ahead: [Int64: [UInt64]] = [:]
    var marks = 0
    /// The same of the process before.
    var earlier: [Int64: Set<UInt64>]
    /// What was used at other nodes.
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
  private let state: Locked<State>

  init(startingAt start: Instant, capacity: Int, earlier: [Int64: Set<UInt64>] = [:]) {
    startedAt = start
    self.capacity = capacity
    state = Locked(State(earlier: earlier))
  }

  private var newWindow: ReplayWindow { ReplayWindow(startingAt: startedAt, capacity: capacity) }

  /// Whether a nonce can be taken; false when these were let go.
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

  /// Takes a nonce; false when these were let go.
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

  /// Remembers what a call at another node has used; false when these were let go.
  func note(_ nonce: UsedNonce) -> Bool {
    state.withLock { state in
      guard !state.isLetGo else { return false }
      if state.elsewhere == nil { state.elsewhere = NoncesElsewhere(capacity: capacity) }
      state.elsewhere?.add(nonce.second, nonce.mark)
      return true
    }
  }

  /// Lets go of what nobody needs; false when that is everything, and the key is not kept.
  func sweep(isKept: Bool, at now: Instant) -> Bool {
    // Beyond their window the times themselves are refused.
    let over = (now - SignaturePolicy.window).second
    return state.withLock { state in
      state.window?.sweep(at: now)
      state.ahead = state.ahead.filter { $0.key > now.second }
      state.marks = state.ahead.values.reduce(0) { $0 + $1.count }
      state.elsewhere?.sweep(before: over)
      state.earlier = state.earlier.filter { $0.key >= over }
      guard !isKept else { return true }
      state.elsewhere = nil
      // A key that was made while the caller looked may have been used.
      guard state.window?.count ?? 0 == 0, state.ahead.isEmpty, state.earlier.isEmpty else { return true }
      state.window = nil
      state.isLetGo = true
      return false
    }
  }

  /// Until when honest calls are refused because the clock was set back; nil when they are not.
  var closedUntil: Instant? { state.withLock { $0.window?.closedUntil } }

  /// What is to be written down: marks by the second, of calls that are signed later than now.
  func marks(after now: Int64) -> [Int64: [UInt64]] {
    state.withLock { state in
      state.earlier.mapValues(Array.init).merging(state.ahead) { $0 + $1 }.filter { $0.key > now }
    }
  }
}
