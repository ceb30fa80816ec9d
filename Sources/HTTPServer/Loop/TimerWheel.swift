/// The deadlines of many connections at a constant cost each: a ring of buckets, one for every tick of 50 ms.
///
/// A deadline that moves later stays in its bucket until that comes round and only then moves on, so a busy
/// connection that renews its deadline with every request costs one store. Deadlines fire up to one tick late, never
/// early. Times are milliseconds of a clock that never goes back.
struct TimerWheel {
  static let tick: UInt64 = 50
  private static let buckets = 2048
  private static let none: Int32 = -1

  /// The first entry of each bucket, and one bit per bucket that has any.
  private var first = [Int32](repeating: none, count: buckets)
  private var occupied = [UInt64](repeating: 0, count: buckets / 64)
  private var current: UInt64
  private var count = 0
  private var entries: [Entry] = []

  private struct Entry {
    var deadline: UInt64 = 0
    /// The tick whose bucket it is in; 0 when in none.
    var tick: UInt64 = 0
    var next = TimerWheel.none
    var previous = TimerWheel.none
  }

  init(now: UInt64) { current = now / TimerWheel.tick }

  /// Sets or moves the deadline of `slot`.
  mutating func set(_ slot: Int, at deadline: UInt64) {
    while entries.count <= slot { entries.append(Entry()) }
    entries[slot].deadline = deadline
    let tick = deadline / TimerWheel.tick + 1
    let scheduled = entries[slot].tick
    if scheduled != 0, scheduled <= tick { return }
    unlink(slot)
    link(slot, tick)
  }

  /// Forgets the deadline of `slot`.
  mutating func cancel(_ slot: Int) {
    guard slot < entries.count else { return }
    unlink(slot)
    entries[slot].deadline = 0
  }

  /// When the next bucket with an entry comes up; nil when there is none.
  var nextWake: UInt64? {
    guard count > 0 else { return nil }
    // Every entry lies within one turn after `current`, so the first bit found is the earliest.
    var distance = 1
    while distance <= TimerWheel.buckets {
      let bucket = Int((current + UInt64(distance)) % UInt64(TimerWheel.buckets))
      let word = occupied[bucket / 64] >> UInt64(bucket % 64)
      if word != 0 {
        return (current + UInt64(distance + word.trailingZeroBitCount)) * TimerWheel.tick
      }
      distance += 64 - bucket % 64
    }
    return nil
  }

  /// Moves the wheel to `now` and appends the slots whose deadline passed to `expired`; they have none afterwards.
  mutating func advance(to now: UInt64, expired: inout [Int]) {
    let target = now / TimerWheel.tick
    guard count > 0 else {
      current = max(current, target)
      return
    }
    var steps = 0
    while current < target {
      current += 1
      steps += 1
      // After one whole turn every bucket was seen; what was put back lies in the future of `target`.
      if steps > TimerWheel.buckets {
        current = target
        return
      }
      empty(Int(current % UInt64(TimerWheel.buckets)), now: now, expired: &expired)
    }
  }

  private mutating func empty(_ bucket: Int, now: UInt64, expired: inout [Int]) {
    var at = first[bucket]
    while at != TimerWheel.none {
      let slot = Int(at)
      at = entries[slot].next
      unlink(slot)
      let deadline = entries[slot].deadline
      if deadline <= now {
        entries[slot].deadline = 0
        expired.append(slot)
      } else {
        link(slot, max(deadline / TimerWheel.tick + 1, now / TimerWheel.tick + 1))
      }
    }
  }

  private mutating func link(_ slot: Int, _ wanted: UInt64) {
    // What lies beyond one turn waits in the last bucket and is looked at again there.
    let tick = min(max(wanted, current + 1), current + UInt64(TimerWheel.buckets) - 1)
    let bucket = Int(tick % UInt64(TimerWheel.buckets))
    let head = first[bucket]
    entries[slot].tick = tick
    entries[slot].next = head
    entries[slot].previous = TimerWheel.none
    if head != TimerWheel.none { entries[Int(head)].previous = Int32(slot) }
    first[bucket] = Int32(slot)
    occupied[bucket / 64] |= 1 << UInt64(bucket % 64)
    count += 1
  }

  private mutating func unlink(_ slot: Int) {
    let entry = entries[slot]
    guard entry.tick != 0 else { return }
    let bucket = Int(entry.tick % UInt64(TimerWheel.buckets))
    if entry.previous == TimerWheel.none {
      first[bucket] = entry.next
    } else {
      entries[Int(entry.previous)].next = entry.next
    }
    if entry.next != TimerWheel.none { entries[Int(entry.next)].previous = entry.previous }
    if first[bucket] == TimerWheel.none { occupied[bucket / 64] &= ~(1 << UInt64(bucket % 64)) }
    entries[slot].tick = 0
    count -= 1
  }
}
