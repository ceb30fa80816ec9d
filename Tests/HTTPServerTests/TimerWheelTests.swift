import Testing

@testable import HTTPServer

@Suite struct TimerWheelTests {
  @Test func `a deadline never fires early and at most two ticks late`() {
    var random = SystemRandomNumberGenerator()
    var wheel = TimerWheel(now: 1000)
    var wanted: [UInt64?] = []
    for slot in 0..<500 {
      let at = 1000 + random.next(upperBound: UInt64(400_000))
      wheel.set(slot, at: at)
      wanted.append(at)
    }
    var now: UInt64 = 1000
    while let wake = wheel.nextWake {
      #expect(wake > now)
      now = wake
      var expired: [Int] = []
      wheel.advance(to: now, expired: &expired)
      for slot in expired {
        guard let at = wanted[slot] else {
          Issue.record("slot \(slot) fired twice")
          continue
        }
        #expect(at <= now && now - at <= 2 * TimerWheel.tick, "slot \(slot)")
        wanted[slot] = nil
      }
      // Move some deadlines meanwhile, later or earlier, and cancel some.
      let slot = Int(random.next(upperBound: UInt64(500)))
      if wanted[slot] != nil {
        let at = now + random.next(upperBound: UInt64(150_000))
        wheel.set(slot, at: at)
        wanted[slot] = at
      }
      let other = Int(random.next(upperBound: UInt64(500)))
      if wanted[other] != nil, random.next(upperBound: UInt64(4)) == 0 {
        wheel.cancel(other)
        wanted[other] = nil
      }
    }
    #expect(wanted.allSatisfy { $0 == nil })
  }

  @Test func `no deadline is lost when the wheel advances far at once`() {
    var wheel = TimerWheel(now: 0)
    wheel.set(1, at: 200)
    wheel.set(2, at: 90_000)
    wheel.set(3, at: 5_000_000)
    var expired: [Int] = []
    wheel.advance(to: 1_000_000, expired: &expired)
    #expect(expired.sorted() == [1, 2])
    #expect(wheel.nextWake.map { $0 > 1_000_000 } == true)
    wheel.advance(to: 5_000_200, expired: &expired)
    #expect(expired.sorted() == [1, 2, 3])
    #expect(wheel.nextWake == nil)
  }
}

extension SystemRandomNumberGenerator {
  fileprivate mutating func next(upperBound: UInt64) -> UInt64 {
    UInt64.random(in: 0..<upperBound, using: &self)
  }
}
