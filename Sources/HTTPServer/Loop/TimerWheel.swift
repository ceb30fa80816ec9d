/// The deadlines of many connections, at a constant cost for each: a ring of buckets, one for each tick of 50 ms.
///
/// A deadline that is postponed stays in its bucket and moves when the wheel reaches that bucket, so a busy connection
/// that renews its deadline with each request costs one store. Deadlines fire up to one tick late and never early.
/// Times are milliseconds of a monotonic clock.
struct TimerWheel {
  static let tick: UInt64 = 50
  private static let buckets = 2048
  private static let none: Int32 = -1

  /// The first entry of each bucket.
  ///
  /// `occupied` has one bit for each bucket, which is set if the bucket has entries.
  private var first = [Int32](repeating: none, count: buckets)
  private var occupied = [UInt64](repeating: 0, count: buckets / 64)
  private var current: UInt64
  private var count = 0
  private var entries: [Entry] = []

  private struct Entry {
    var deadline: UInt64 = 0
    /// The tick of the bucket that contains the entry; 0 if none does.
    var tick: UInt64 = 0
    var next = TimerWheel.none
    var previous = TimerWheel.none
  }

  init(now: UInt64) { current = now / TimerWheel.tick }

  /// Sets or moves the deadline of the connection in `slot`.
  mutating func set(_ slot: Int, at deadline: UInt64) {
    while entries.count <= slot { entries.append(Entry()) }
    entries[slot].deadline = deadline
    let tick = deadline / TimerWheel.tick + 1
    let scheduled = entries[slot].tick
    if scheduled != 0, scheduled <= tick { return }
    unlink(slot)
    link(slot, tick)
  }

  /// Removes the deadline of the connection in `slot`.
  mutating func cancel(_ slot: Int) {
    guard slot < entries.count else { return }
    unlink(slot)
    entries[slot].deadline = 0
  }

  /// The time at which the next bucket with an entry is due; nil if there is none.
  var nextWake: UInt64? {
    guard count > 0 else { return nil }
    // Every entry is within one revolution after `current`, so the first set bit is the earliest.
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

  /// Moves the wheel to the time `now`.
  ///
  /// Appends the slots whose deadline has passed to `expired`, and removes their deadlines.
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
      // After one revolution of the wheel all buckets were checked. Entries that were put back are due after `target`.
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
    // A deadline that is more than one revolution away waits in the last bucket, and is put back into another from
    // there.
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
