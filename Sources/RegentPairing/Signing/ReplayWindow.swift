/// The nonces that one key has used: each is accepted once, within a bounded memory.
///
/// Nonces are kept by the second in which the caller says it signed. As long as there is room, the window is the whole
/// ±5 minutes. When it is full, the oldest second goes **and the window shrinks behind it**: headers of that time are
/// refused from then on instead of being forgotten, which would let an attacker replay one after flooding the memory.
/// It never shrinks up to now: then a newcomer is refused. Whoever has an app's secret can sign what it likes, so that
/// neither one source nor times ahead of now may take all the room (``ReplayQuota``).
///
/// A new window starts at the service's start, because what was used before is not known any more.
///
/// When the clock is set back (a machine whose clock was ahead at boot), times come once more. What was used in them is
/// remembered as long as it is little, and times of which something was forgotten are refused.
///
/// Insert only after the signature has been checked; otherwise strangers could fill it.
public struct ReplayWindow: Sendable {
  /// How many nonces one key's window holds unless told otherwise: 2¹⁸, about 8 MiB when full, and 3 for what is
  /// past.
  public static let usualCapacity = 262_144

  /// Clocks are read on several threads; a difference below this is their order, above it somebody set the clock.
  private static let tolerance: Int64 = 2
  private static let width = SignaturePolicy.window.wholeMilliseconds / 1000

  private let capacity: Int
  private var quota: ReplayQuota
  /// The latest second of the service's clock.
  private var latest: Int64
  /// Headers of earlier seconds are refused.
  private var floor: Int64
  /// Times of which nonces were let go.
  private var forgotten = ForgottenTimes()
  /// No second that holds anything is earlier.
  private var oldest = Int64.max
  /// A second's nonces, each with the place of its source in its lowest bits.
  private var seconds: [Int64: [UInt64]] = [:]
  private var used: Set<UInt64> = []
  /// What was used in seconds that are out of the window, for a clock that is set back; the seconds in the order in
  /// which they went.
  private var past: [Int64: [UInt64]] = [:]
  private var pastOrder: [Int64] = []
  private var pastCount = 0

  /// A window that accepts headers signed at `start` or later.
  public init(startingAt start: Instant, capacity: Int = ReplayWindow.usualCapacity) {
    self.capacity = max(capacity, 1)
    quota = ReplayQuota(capacity: self.capacity)
    floor = start.second
    latest = start.second
  }

  /// How many nonces are remembered that may come again now.
  public var count: Int { used.count }

  /// Until when honest callers are refused because the clock was set back; nil when they are not.
  public var closedUntil: Instant? {
    guard let end = forgotten.end(of: max(latest, floor)) else { return nil }
    return Instant(milliseconds: (end + 1) * 1000)
  }

  /// Takes a nonce, or says why not.
  ///
  /// - Parameters:
  ///   - nonce: a hash of the nonce with a key of the process, so that nobody can choose two that collide.
  ///   - source: a hash of where the call comes from, likewise; nil when nobody knows.
  ///   - requestTime: when the caller says it signed.
  ///   - now: the service's clock.
  /// - Throws: `replayed`; `outsideWindow` for a time that is not (any more) remembered, or too many ahead of now;
  ///   `tooMany` when there is no room.
  public mutating func accept(
    nonce: UInt64, from source: UInt64? = nil, signedAt requestTime: Instant, at now: Instant
  ) throws(SignatureRefusal) {
    let second = requestTime.second
    try check(nonce: nonce, signedAt: requestTime, at: now)
    let entry = quota.entry(nonce, from: source)
    if quota.isAhead(second, of: latest) {
      // The caller's clock is ahead, or it means harm: with the answer's date it can sign again.
      guard quota.takesAhead(entry) else { throw .outsideWindow }
    } else {
      while used.count >= capacity { guard giveUpOldest() else { throw .tooMany } }
      while quota.isOverShare(entry, among: used.count) { guard giveUpOldest() else { throw .tooMany } }
    }
    // Making room may have moved the window.
    guard second >= floor else { throw .outsideWindow }
    used.insert(nonce.trimmed)
    seconds[second, default: []].append(entry)
    oldest = min(oldest, second)
    quota.add(entry, isAhead: quota.isAhead(second, of: latest))
  }

  /// Whether a nonce could be taken, as far as its time and its having been used are concerned; takes nothing.
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

  /// Gives memory back that nobody needs: for keys that are not used any more.
  public mutating func sweep(at now: Instant) {
    follow(now.second)
    if used.count <= quota.history, used.capacity > 4 * quota.history {
      // A set keeps its memory when it gets smaller, and hands it on to a copy.
      used = used.filter { _ in true }
    }
  }

  /// Goes on to a time of the clock, and notices one that was set back.
  ///
  /// What is remembered stays remembered. Refused is what was signed before this moment, which an earlier process may
  /// have accepted.
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

  /// Gives up the oldest second, unless it is about now; the window then begins behind it.
  private mutating func giveUpOldest() -> Bool {
    guard let second = next(), second < latest - ReplayQuota.nearest else { return false }
    guard remove(second) != nil else { return false }
    forgotten.add(second)
    floor = max(floor, second + 1)
    return true
  }

  /// Takes a second out of the window.
  ///
  /// A nonce may be used again after its time, but not with the same time.
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

  /// The oldest second that holds anything.
  private mutating func next() -> Int64? {
    guard !seconds.isEmpty else {
      oldest = .max
      return nil
    }
    for _ in 0..<Self.width {
      if seconds[oldest] != nil { return oldest }
      oldest += 1
    }
    // A jump of the clock must not make this a long walk; the memory holds few seconds, time holds many.
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
  /// A nonce's hash without the bits that its source takes in an entry.
  fileprivate var trimmed: UInt64 { ReplayQuota.nonce(of: self << ReplayQuota.sourceBits) }
}

extension Instant {
  /// The second that this lies in, also before 1970.
  public var second: Int64 {
    let quotient = milliseconds / 1000
    return milliseconds % 1000 < 0 ? quotient - 1 : quotient
  }
}
