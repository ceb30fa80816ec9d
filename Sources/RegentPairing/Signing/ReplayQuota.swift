/// How the room of a ``ReplayWindow`` is shared, so that nobody with an app's secret takes all of it.
///
/// - Times ahead of now get a sixteenth: they stay the longest, and whoever signs honestly signs about now.
/// - While half of the room is taken, a source that has more than a thirty-second of it gets no more. Sources share
///   4,096 places by a hash with a key of the process.
struct ReplayQuota: Sendable {
  /// Seconds about now that are always accepted: what a caller gets from the answer's date is right to about this.
  static let nearest: Int64 = 3
  static let sourceBits: UInt64 = 12

  /// How many nonces are kept beyond their time, for a clock that is set back: 3 MiB at most.
  let history: Int
  private let room: Int
  /// How many may be of times ahead of now.
  let aheadRoom: Int
  private var ahead = 0
  private var bySource = [Int32](repeating: 0, count: 1 << Int(sourceBits))
  private var aheadBySource: [UInt64: Int] = [:]

  init(capacity: Int) {
    room = capacity
    aheadRoom = max(capacity / 16, 1)
    history = capacity / 8
  }

  /// A nonce and the place of its source in one number; place 0 is for sources that nobody knows.
  func entry(_ nonce: UInt64, from source: UInt64?) -> UInt64 {
    let places = UInt64(bySource.count)
    return nonce << Self.sourceBits | (source.map { $0 % (places - 1) + 1 } ?? 0)
  }

  static func nonce(of entry: UInt64) -> UInt64 { entry >> sourceBits }

  private static func place(of entry: UInt64) -> Int {
    Int(truncatingIfNeeded: entry & ((1 << sourceBits) - 1))
  }

  /// Whether a second is so far ahead that its headers get the small part of the room only.
  func isAhead(_ second: Int64, of now: Int64) -> Bool { second > now + Self.nearest }

  /// Whether a source has its part of what is there, while little is left for others.
  func isOverShare(_ entry: UInt64, among count: Int) -> Bool {
    let place = Self.place(of: entry)
    return place > 0 && count >= room / 2 && Int(bySource[place]) >= max(room / 32, 1)
  }

  /// Whether there is room for a header of a time ahead of now.
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

  /// A second is not ahead of now any more.
  mutating func reach(_ entries: [UInt64]) { for entry in entries { leave(entry) } }

  private mutating func leave(_ entry: UInt64) {
    ahead -= 1
    let place = UInt64(Self.place(of: entry))
    let left = aheadBySource[place, default: 0] - 1
    aheadBySource[place] = left > 0 ? left : nil
  }

  /// Counts anew what is ahead, after the clock jumped.
  mutating func countAhead(_ seconds: [Int64: [UInt64]], of now: Int64) {
    ahead = 0
    aheadBySource = [:]
    for (second, entries) in seconds where isAhead(second, of: now) {
      ahead += entries.count
      for entry in entries { aheadBySource[UInt64(Self.place(of: entry)), default: 0] += 1 }
    }
  }
}

/// Spans of seconds of which nonces were forgotten; a few, and joined rather than lost when there are more.
struct ForgottenTimes: Sendable {
  private static let most = 4
  /// Spans nearer than this are one: in between lie seconds in which nobody called.
  private static let gap: Int64 = 600
  private var spans: [ClosedRange<Int64>] = []

  func contains(_ second: Int64) -> Bool { spans.contains { $0.contains(second) } }

  /// The last second of the span that this one lies in.
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
