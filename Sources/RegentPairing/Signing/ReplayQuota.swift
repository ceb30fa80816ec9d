/// Divides the capacity of a ``ReplayWindow``, so that an attacker with an app's secret cannot fill all of it.
///
/// - Nonces with a time in the future may fill a sixteenth. Such nonces stay longest, and honest clients sign with the
///   current time.
/// - While the window is at least half full, a source that holds more than a thirty-second of the capacity gets a new
///   nonce in only after the nonces of the oldest seconds were dropped. If only current seconds are left, its request
///   is refused. Sources are hashed into 4,096 counters, with a hash that is seeded anew in each process.
struct ReplayQuota: Sendable {
  /// Times up to this many seconds after now do not count as future, and their nonces are never dropped.
  ///
  /// A client that sets its time by the `Date` of a response is about this exact.
  static let nearest: Int64 = 3
  static let sourceBits: UInt64 = 12

  /// How many nonces are kept after their time has left the window of ±5 minutes, in case the clock is set back.
  ///
  /// They take 3 MiB at most.
  let history: Int
  private let room: Int
  /// How many nonces may have a signing time in the future.
  let aheadRoom: Int
  private var ahead = 0
  private var bySource = [Int32](repeating: 0, count: 1 << Int(sourceBits))
  private var aheadBySource: [UInt64: Int] = [:]

  init(capacity: Int) {
    room = capacity
    aheadRoom = max(capacity / 16, 1)
    history = capacity / 8
  }

  /// Packs a nonce and the counter of its source into one number.
  ///
  /// Counter 0 is for unknown sources.
  func entry(_ nonce: UInt64, from source: UInt64?) -> UInt64 {
    let places = UInt64(bySource.count)
    return nonce << Self.sourceBits | (source.map { $0 % (places - 1) + 1 } ?? 0)
  }

  static func nonce(of entry: UInt64) -> UInt64 { entry >> sourceBits }

  private static func place(of entry: UInt64) -> Int {
    Int(truncatingIfNeeded: entry & ((1 << sourceBits) - 1))
  }

  /// Whether a signing time is so far in the future that its nonces may use only a small part of the capacity.
  func isAhead(_ second: Int64, of now: Int64) -> Bool { second > now + Self.nearest }

  /// Whether a source (client address) has used its share of the capacity while the window is at least half full.
  func isOverShare(_ entry: UInt64, among count: Int) -> Bool {
    let place = Self.place(of: entry)
    return place > 0 && count >= room / 2 && Int(bySource[place]) >= max(room / 32, 1)
  }

  /// Whether there is room for another nonce with a signing time in the future.
  func takesAhead(_ entry: UInt64) -> Bool {
    let place = UInt64(Self.place(of: entry))
    let isOverShare =
      place > 0 && ahead >= aheadRoom / 2 && aheadBySource[place, default: 0] >= max(aheadRoom / 32, 1)
    return ahead < aheadRoom && !isOverShare
  }

  mutating func add(_ entry: UInt64, isAhead: Bool) {
    bySource[Self.place(of: entry)] += 1
    guard isAhead else { return }
    ahead += 1
    aheadBySource[UInt64(Self.place(of: entry)), default: 0] += 1
  }

  mutating func remove(_ entry: UInt64, isAhead: Bool) {
    bySource[Self.place(of: entry)] -= 1
    if isAhead { leave(entry) }
  }

  /// Removes `entries` from the count of nonces that are dated in the future, because the clock has reached their time.
  mutating func reach(_ entries: [UInt64]) { for entry in entries { leave(entry) } }

  private mutating func leave(_ entry: UInt64) {
    ahead -= 1
    let place = UInt64(Self.place(of: entry))
    let left = aheadBySource[place, default: 0] - 1
    aheadBySource[place] = left > 0 ? left : nil
  }

  /// Recounts the nonces with a future time after the clock has jumped.
  mutating func countAhead(_ seconds: [Int64: [UInt64]], of now: Int64) {
    ahead = 0
    aheadBySource = [:]
    for (second, entries) in seconds where isAhead(second, of: now) {
      ahead += entries.count
      for entry in entries { aheadBySource[UInt64(Self.place(of: entry)), default: 0] += 1 }
    }
  }
}

/// The time spans from which nonces were dropped.
///
/// At most four spans are kept. A fifth is made room for by joining the closest two.
struct ForgottenTimes: Sendable {
  private static let most = 4
  /// Spans closer than this many seconds are joined.
  ///
  /// Refusing the seconds between them hardly affects clients.
  private static let gap: Int64 = 600
  private var spans: [ClosedRange<Int64>] = []

  func contains(_ second: Int64) -> Bool { spans.contains { $0.contains(second) } }

  /// The last second of the span that contains this second; nil if none does.
  func end(of second: Int64) -> Int64? { spans.first { $0.contains(second) }?.upperBound }

  mutating func add(_ second: Int64) {
    let near = spans.firstIndex {
      second >= $0.lowerBound - Self.gap && second <= $0.upperBound + Self.gap
    }
    if let near {
      spans[near] = min(spans[near].lowerBound, second)...max(spans[near].upperBound, second)
      return
    }
    spans.append(second...second)
    spans.sort { $0.lowerBound < $1.lowerBound }
    guard spans.count > Self.most else { return }
    let closest = (1..<spans.count).min {
      spans[$0].lowerBound - spans[$0 - 1].upperBound
        < spans[$1].lowerBound - spans[$1 - 1].upperBound
    }
    guard let closest else { return }
    spans[closest - 1] = spans[closest - 1].lowerBound...spans[closest].upperBound
    spans.remove(at: closest)
  }
}
