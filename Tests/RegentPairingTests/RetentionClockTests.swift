import RegentPairing
import Testing

private let day = 86_400

@Suite struct `The clock that decides when data is deleted` {
  @Test func `the deletion clock follows a wall clock that drifts slowly`() {
    var clock = RetentionClock(kept: nil, wall: at(0), boot: up(50))
    for second in stride(from: 0, to: 100 * day, by: 3600) {
      // One second an hour too fast, like a cheap crystal.
      let wall = second + second / 3600
      #expect(clock.time(wall: at(wall), boot: up(second + 50)) == at(wall))
      #expect(clock.ahead == nil)
    }
  }

  @Test func `after a jump ahead the deletion clock runs evenly until the wall clock has run evenly for a day`() {
    var clock = RetentionClock(kept: nil, wall: at(0), boot: up(0))
    #expect(clock.time(wall: at(31 * day), boot: up(10)) == at(10))
    #expect(clock.ahead == .seconds(31 * day - 10))
    #expect(clock.time(wall: at(31 * day + 12), boot: up(22)) == at(22))
    #expect(clock.trialLeft(at: up(22)) == .seconds(day - 12))
    // The wall clock is corrected.
    #expect(clock.time(wall: at(34), boot: up(34)) == at(34))
    #expect(clock.ahead == nil && clock.trialLeft(at: up(34)) == nil)
    // A different jump ahead starts a new day of observation.
    #expect(clock.time(wall: at(31 * day), boot: up(40)) == at(40))
    #expect(clock.time(wall: at(99 * day), boot: up(day)) == at(day))
    #expect(clock.time(wall: at(100 * day - 1), boot: up(2 * day - 1)) == at(2 * day - 1))
    #expect(clock.time(wall: at(100 * day), boot: up(2 * day)) == at(100 * day))
    #expect(clock.ahead == nil)
  }

  @Test func `the deletion clock is never later than the wall clock or the boot clock`() {
    var clock = RetentionClock(kept: nil, wall: at(10 * day), boot: up(0))
    // The wall clock was ahead at the start and is set back.
    #expect(clock.time(wall: at(5), boot: up(60)) == at(5))
    #expect(clock.time(wall: at(65), boot: up(120)) == at(65))
    #expect(clock.time(wall: at(10 * day), boot: up(130)) == at(75))
  }

  @Test func `the deletion clock begins with the stored time when the wall clock is far ahead of it`() {
    var night = RetentionClock(kept: at(0), wall: at(day), boot: up(0))
    #expect(night.time(wall: at(day), boot: up(0)) == at(day))
    var ahead = RetentionClock(kept: at(0), wall: at(31 * day), boot: up(7))
    #expect(ahead.ahead == .seconds(31 * day))
    #expect(ahead.time(wall: at(31 * day + 12), boot: up(19)) == at(12))
    #expect(ahead.time(wall: at(32 * day), boot: up(day + 7)) == at(32 * day))
    var behind = RetentionClock(kept: at(day), wall: at(0), boot: up(0))
    #expect(behind.time(wall: at(1), boot: up(1)) == at(1))
  }
}
