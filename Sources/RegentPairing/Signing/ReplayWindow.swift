/// Remembers the nonces that one key has used, so that each is accepted once, within bounded memory.
///
/// Nonces are grouped by the second of the signing time in the header. The window is ±5 minutes. When it is full, the
/// oldest second is dropped **and the window shrinks**: requests signed in that second are refused from then on.
/// Accepting them would let an attacker flood the memory and then replay one.
///
/// The window never shrinks into the current seconds. When only they are left, new requests are refused. An attacker
/// with an app's secret can sign anything, so ``ReplayQuota`` limits what one source and what future times may use.
///
/// A new window accepts only requests signed after the service's start, because earlier nonces are not known.
///
/// If the clock is set back (it may have been ahead at boot), past seconds occur again. Their nonces are kept as far as
/// memory allows; seconds whose nonces were dropped are refused.
///
/// Insert a nonce only after its signature was verified. Otherwise clients without a key could fill the window.
public struct ReplayWindow: Sendable {
  /// The default capacity for one key: 2¹⁸ nonces, about 8 MiB when full, plus 3 MiB for past seconds.
  public static let usualCapacity = 262_144

  /// Several threads read the clock and may arrive out of order.
  ///
  /// If the time steps back by more than this many seconds, the clock was set.
  private static let tolerance: Int64 = 2
  private static let width = SignaturePolicy.window.wholeMilliseconds / 1000

  private let capacity: Int
  private var quota: ReplayQuota
  /// The latest second of the service's clock.
  private var latest: Int64
  /// The first second whose requests are still accepted.
  ///
  /// Requests signed before it are refused.
  private var floor: Int64
  /// The seconds whose nonces were dropped.
  private var forgotten = ForgottenTimes()
  /// No second in ``seconds`` is before this one.
  private var oldest = Int64.max
  /// The entries of each second: a nonce with the counter of its source in the lowest bits.
  private var seconds: [Int64: [UInt64]] = [:]
  private var used: Set<UInt64> = []
  /// The nonces of seconds that have left the window, kept in case the clock is set back.
  private var past: [Int64: [UInt64]] = [:]
  private var pastOrder: [Int64] = []
  private var pastCount = 0

  /// Creates a window that accepts requests signed at `start` or later.
  public init(startingAt start: Instant, capacity: Int = ReplayWindow.usualCapacity) {
    self.capacity = max(capacity, 1)
    quota = ReplayQuota(capacity: self.capacity)
    floor = start.second
    latest = start.second
  }

  /// The number of nonces in the window.
  public var count: Int { used.count }

  /// Until when honest clients are refused because the clock was set back; nil if they are accepted now.
  public var closedUntil: Instant? {
    guard let end = forgotten.end(of: max(latest, floor)) else { return nil }
    return Instant(milliseconds: (end + 1) * 1000)
  }

  /// Accepts a nonce, or throws why not.
  ///
  /// - Parameters:
  ///   - nonce: a hash of the nonce, seeded in each process, so that an attacker cannot choose two that collide.
  ///   - source: a hash of the client's address, seeded too; nil if unknown.
  ///   - requestTime: the signing time in the request's header.
  ///   - now: the service's clock.
  /// - Throws: `replayed`; `outsideWindow` if the signing time is not in the window, or if too many nonces have a
  ///   future time; `tooMany` if there is no room.
  public mutating func accept(
    nonce: UInt64, from source: UInt64? = nil, signedAt requestTime: Instant, at now: Instant
  ) throws(SignatureRefusal) {
    let second = requestTime.second
    try check(nonce: nonce, signedAt: requestTime, at: now)
    let entry = quota.entry(nonce, from: source)
    if quota.isAhead(second, of: latest) {
      // The signing time is ahead: the client's clock is wrong, or the client is an attacker. An honest client can sign
      // again with the `Date` of the response.
      guard quota.takesAhead(entry) else { throw .outsideWindow }
    } else {
      while used.count >= capacity { guard giveUpOldest() else { throw .tooMany } }
      while quota.isOverShare(entry, among: used.count) { guard giveUpOldest() else { throw .tooMany } }
    }
    // The steps above may have dropped old seconds and so shrunk the window.
    guard second >= floor else { throw .outsideWindow }
    used.insert(nonce.trimmed)
    seconds[second, default: []].append(entry)
    oldest = min(oldest, second)
    quota.add(entry, isAhead: quota.isAhead(second, of: latest))
  }

  /// Whether the nonce is unused and its time is inside the window.
  ///
  /// Stores nothing.
  public mutating func check(nonce: UInt64, signedAt requestTime: Instant, at now: Instant)
    throws(SignatureRefusal)
  {
    follow(now.second)
    let age = now.since(requestTime)
    guard age <= SignaturePolicy.window, age >= .zero - SignaturePolicy.window else {
      throw .outsideWindow
    }
    guard !used.contains(nonce.trimmed) else {
      throw requestTime.second >= floor ? .replayed : .outsideWindow
    }
    guard requestTime.second >= floor, !forgotten.contains(requestTime.second) else {
      throw .outsideWindow
    }
    guard past[requestTime.second]?.contains(nonce.trimmed) != true else { throw .replayed }
  }

  /// Frees unused memory of keys that are no longer in use.
  public mutating func sweep(at now: Instant) {
    follow(now.second)
    if used.count <= quota.history, used.capacity > 4 * quota.history {
      // A set keeps its capacity when it shrinks, also in a copy, so it is rebuilt.
      used = used.filter { _ in true }
    }
  }

  /// Moves the window to the current time, and detects a clock that was set back.
  ///
  /// Nonces stay remembered. After a step back, requests signed before the new time are refused, because an earlier
  /// process may have accepted them.
  private mutating func follow(_ second: Int64) {
    guard second != latest else { return }
    if second < latest - Self.tolerance {
      floor = second
      latest = second
      quota.countAhead(seconds, of: latest)
      for far in seconds.keys.sorted() where far > second + Self.width { retire(far) }
      return
    }
    guard second > latest else { return }
    if second - latest > Self.width {
      quota.countAhead(seconds, of: second)
    } else {
      for reached in latest + 1...second {
        if let entries = seconds[reached + ReplayQuota.nearest] { quota.reach(entries) }
      }
    }
    latest = second
    floor = max(floor, second - Self.width)
    while let old = next(), old < second - Self.width { retire(old) }
  }

  /// Drops the nonces of the oldest second to make room, and refuses requests signed in that second from now on.
  ///
  /// Returns false if that second is too close to the current time.
  private mutating func giveUpOldest() -> Bool {
    guard let second = next(), second < latest - ReplayQuota.nearest else { return false }
    guard remove(second) != nil else { return false }
    forgotten.add(second)
    floor = max(floor, second + 1)
    return true
  }

  /// Takes the nonces of one second out of the window, and remembers them as nonces of the past.
  ///
  /// A client may use a nonce again with another time, but not with the same time.
  private mutating func retire(_ second: Int64) {
    guard let gone = remove(second) else { return }
    past[second, default: []] += gone.map(ReplayQuota.nonce)
    pastOrder.append(second)
    pastCount += gone.count
    while pastCount > quota.history, !pastOrder.isEmpty {
      let first = pastOrder.removeFirst()
      guard let lost = past.removeValue(forKey: first) else { continue }
      pastCount -= lost.count
      forgotten.add(first)
    }
  }

  /// Returns the oldest second that has nonces; nil if there are none.
  private mutating func next() -> Int64? {
    guard !seconds.isEmpty else {
      oldest = .max
      return nil
    }
    for _ in 0..<Self.width {
      if seconds[oldest] != nil { return oldest }
      oldest += 1
    }
    // After a clock jump the next second may be far away. There are few seconds, so search all of them.
    oldest = seconds.keys.min() ?? .max
    return oldest
  }

  private mutating func remove(_ second: Int64) -> [UInt64]? {
    guard let gone = seconds.removeValue(forKey: second) else { return nil }
    let isAhead = quota.isAhead(second, of: latest)
    for entry in gone {
      used.remove(ReplayQuota.nonce(of: entry))
      quota.remove(entry, isAhead: isAhead)
    }
    return gone
  }
}

extension UInt64 {
  /// The hash of a nonce without the bits that an entry uses for the counter of its source.
  fileprivate var trimmed: UInt64 { ReplayQuota.nonce(of: self << ReplayQuota.sourceBits) }
}

extension Instant {
  /// The second that contains this instant, rounded down also before 1970.
  public var second: Int64 {
    let quotient = milliseconds / 1000
    return milliseconds % 1000 < 0 ? quotient - 1 : quotient
  }
}
