import RegentPairing
import Testing

private let day = 86_400

@Suite struct `The time by which things are deleted` {
  @Test func `is the wall clock's while that goes evenly`() {
    var clock = RetentionClock(kept: nil, wall: at(0), boot: up(50))
    for second in stride(from: 0, to: 100 * day, by: 3600) {
      // A second an hour too fast, as cheap crystals are.
      let wall = second + second / 3600
      #expect(clock.time(wall: at(wall), boot: up(second + 50)) == at(wall))
      #expect(clock.ahead == nil)
    }
  }

  @Test func `goes on evenly when the wall clock jumps ahead, until that one has gone evenly for a day`() {
    var clock = RetentionClock(kept: nil, wall: at(0), boot: up(0))
    #expect(clock.time(wall: at(31 * day), boot: up(10)) == at(10))
    #expect(clock.ahead == .seconds(31 * day - 10))
    #expect(clock.time(wall: at(31 * day + 12), boot: up(22)) == at(22))
    #expect(clock.trialLeft(at: up(22)) == .seconds(day - 12))
    // Set right.
    #expect(clock.time(wall: at(34), boot: up(34)) == at(34))
    #expect(clock.ahead == nil && clock.trialLeft(at: up(34)) == nil)
    // Ahead by another time than before: the trial begins anew.
    #expect(clock.time(wall: at(31 * day), boot: up(40)) == at(40))
    #expect(clock.time(wall: at(99 * day), boot: up(day)) == at(day))
    #expect(clock.time(wall: at(100 * day - 1), boot: up(2 * day - 1)) == at(2 * day - 1))
    #expect(clock.time(wall: at(100 * day), boot: up(2 * day)) == at(100 * day))
    #expect(clock.ahead == nil)
  }

  @Test func `is never later than either clock`() {
    var clock = RetentionClock(kept: nil, wall: at(10 * day), boot: up(0))
    // It was ahead at the start, and is set back.
    #expect(clock.time(wall: at(5), boot: up(60)) == at(5))
    #expect(clock.time(wall: at(65), boot: up(120)) == at(65))
    #expect(clock.time(wall: at(10 * day), boot: up(130)) == at(75))
  }

  @Test func `begins with the time that was believed last`() {
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
