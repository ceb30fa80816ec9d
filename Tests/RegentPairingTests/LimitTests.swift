import RegentPairing
import Testing

@Suite struct `Rate limits` {
  @Test func `a rate limit allows a burst, then its rate per second`() {
    let limit = RateLimit(perSecond: 20, burst: 100)
    var meter = RateMeter()
    for _ in 0..<100 { #expect(meter.take(of: limit, at: up(10)) == .within) }
    #expect(meter.take(of: limit, at: up(10)) == .over(retryAfter: .milliseconds(50)))
    var given = 0
    for millisecond in 0..<10_000 {
      let now = Uptime(milliseconds: 10_000 + Int64(millisecond))
      if meter.take(of: limit, at: now) == .within { given += 1 }
    }
    #expect(given == 199)
    #expect(!meter.isFull(at: up(20)))
    #expect(meter.isFull(at: up(26)))
  }

  @Test func `a refused request uses up nothing of the rate limit`() {
    let limit = RateLimit(perSecond: 1, burst: 1)
    var meter = RateMeter()
    #expect(meter.take(of: limit, at: up(0)) == .within)
    for _ in 0..<100 { #expect(meter.take(of: limit, at: up(0)) != .within) }
    #expect(meter.take(of: limit, at: up(1)) == .within)
  }

  @Test func `the multiple of a very large limit is the largest limit and never a small one`() {
    #expect(LiveCodeLimits(.max, among: 2).most(having: 0) == .max)
    #expect(LiveCodeLimits(.max / 2 + 1, among: 2).most(having: 0) == .max)
    let failures = FailureLimit(count: .max / 2 + 1, span: .seconds(1))
    #expect(failures.times(2).count == .max)
    #expect(failures.times(4).count == .max)
    #expect(failures.times(0).count == failures.count)
    let rate = RateLimit(oneEvery: .seconds(1), burst: .max / 2 + 1)
    #expect(rate.times(4).burst == .max)
    #expect(rate.with(burst: 4).burst == .max)
    var meter = RateMeter()
    for second in 0..<3 { #expect(meter.take(of: rate.with(burst: 4), at: up(second)) == .within) }
    let rare = RateLimit(perSecond: 1, burst: 1).slowed(by: .max)
    #expect(meter.take(of: rare, at: up(3)) == .within)
    #expect(meter.take(of: rare, at: up(4)) != .within)
  }

  @Test func `nodes that share a limit get equal parts of it`() {
    #expect(RateLimit(perSecond: 20, burst: 100).divided(among: 4) == RateLimit(perSecond: 5, burst: 25))
    #expect(RateLimit(oneEvery: .seconds(1), burst: 2).divided(among: 3) == RateLimit(oneEvery: .seconds(3), burst: 1))
    #expect(RateLimit.device.divided(among: 0) == .device)
  }

  @Test func `invalid limits become the smallest valid ones`() {
    #expect(RateLimit(perSecond: 0, burst: -1) == RateLimit(perSecond: 1, burst: 1))
    var meter = RateMeter()
    #expect(meter.take(of: .device, at: Uptime(milliseconds: .max)) == .within)
  }
}

@Suite struct `Limits on wrong codes` {
  private let here: SourceKey
  private let there: SourceKey

  init() throws {
    here = try #require(SourceKey(address: [192, 0, 2, 1]))
    there = try #require(SourceKey(address: [192, 0, 2, 2]))
  }

  @Test func `after five wrong codes in ten minutes a source is blocked until the first is ten minutes old`() {
    var ledger = GuessLedger<String>()
    for second in 0..<5 {
      #expect(ledger.verdict(source: here, account: nil, at: up(second)) == .within)
      ledger.wrong(source: here, account: nil, at: up(second))
    }
    #expect(
      ledger.verdict(source: here, account: nil, at: up(5)) == .over(retryAfter: .seconds(595)))
    #expect(ledger.verdict(source: there, account: nil, at: up(5)) == .within)
    #expect(ledger.verdict(source: here, account: nil, at: up(600)) == .within)
    ledger.wrong(source: here, account: nil, at: up(600))
    // Now the second wrong code, at 1 s, must become ten minutes old.
    #expect(
      ledger.verdict(source: here, account: nil, at: up(600)) == .over(retryAfter: .seconds(1)))
  }

  @Test func `a wrong code reported late counts from the time it was typed`() {
    var ledger = GuessLedger<String>()
    for second in [300, 100, 200, 0] { ledger.wrong(source: here, account: nil, at: up(second)) }
    #expect(ledger.verdict(source: here, account: nil, at: up(301)) == .within)
    ledger.wrong(source: here, account: nil, at: up(301))
    #expect(ledger.verdict(source: here, account: nil, at: up(301)) == .over(retryAfter: .seconds(299)))
    // The oldest has left the window; the other three have not.
    #expect(ledger.verdict(source: here, account: nil, at: up(600)) == .within)
    ledger.wrong(source: here, account: nil, at: up(600))
    #expect(ledger.verdict(source: here, account: nil, at: up(600)) == .over(retryAfter: .seconds(100)))
  }

  @Test func `the same wrong code typed again is counted once within the window`() {
    var ledger = GuessLedger<Never>(
      each: FailureLimit(count: 2, span: .seconds(600)), all: .allWrongCodes)
    func isCounted(_ source: SourceKey, _ mark: Int, at now: Uptime) -> Bool {
      ledger.wrong(source: source, account: nil, mark: mark, at: now)
    }
    #expect(isCounted(here, 1, at: up(0)))
    for second in 1..<600 { #expect(!isCounted(here, 1, at: up(second))) }
    #expect(ledger.verdict(source: here, account: nil, at: up(599)) == .within)
    #expect(isCounted(there, 1, at: up(599)))
    #expect(isCounted(here, 1, at: up(600)))
    #expect(isCounted(here, 2, at: up(600)))
    #expect(ledger.verdict(source: here, account: nil, at: up(600)) != .within)
  }

  @Test func `an account's wrong codes are counted over all its sources`() throws {
    var ledger = GuessLedger<String>()
    for last in 0..<5 {
      let source = try #require(SourceKey(address: [10, 0, 0, UInt8(last)]))
      ledger.wrong(source: source, account: "ann", at: up(0))
    }
    #expect(ledger.verdict(source: there, account: "ann", at: up(1)) != .within)
    #expect(ledger.verdict(source: there, account: "bob", at: up(1)) == .within)
  }

  @Test func `wrong codes are limited by browser and by address, but an address does not block a signed-in viewer`() {
    let hotel = FailureLimit.wrongCodes.widened(by: 12)
    var ledger = GuessLedger<String>(ofSource: hotel, all: FailureLimit(count: 1_000, span: .seconds(60)), capacity: 40)
    func verdict(_ browser: Int, _ account: String? = nil, at second: Int) -> RateVerdict {
      ledger.verdict(source: here, account: account, browser: browser, at: up(second))
    }
    for browser in 0..<12 {
      for _ in 0..<5 {
        #expect(verdict(browser, at: 0) == .within)
        ledger.wrong(source: here, account: nil, browser: browser, at: up(0))
      }
      #expect(verdict(browser, at: 1) != .within)
    }
    #expect(verdict(99, at: 1) == .over(retryAfter: .seconds(7_199)))
    #expect(verdict(99, "ann", at: 1) == .within)
    // A viewer who is signed in still waits for the wrong codes of the viewer's own browser.
    #expect(verdict(3, "ann", at: 1) != .within)
    #expect(ledger.verdict(source: there, account: nil, browser: 99, at: up(1)) == .within)
    #expect(verdict(99, at: 7_200) == .within)
    // The daily total stays the same, however the attempts are spread.
    var day = 0
    for second in stride(from: 10_000, to: 96_400, by: 10) where verdict(second, at: second) == .within {
      ledger.wrong(source: here, account: nil, browser: second, at: up(second))
      day += 1
    }
    #expect(day == 12 * 60)
  }

  @Test func `invented browser ids free no blocked browser`() {
    var ledger = GuessLedger<Never>(
      ofSource: FailureLimit(count: 1_000, span: .seconds(7_200)), all: FailureLimit(count: 9_999, span: .seconds(60)),
      capacity: 10)
    for _ in 0..<5 { ledger.wrong(source: here, account: nil, browser: 1, at: up(0)) }
    for browser in 2..<600 { ledger.wrong(source: here, account: nil, browser: browser, at: up(1)) }
    #expect(ledger.verdict(source: here, account: nil, browser: 1, at: up(2)) != .within)
    // A full table cannot count a new browser, so that its address blocks it.
    for _ in 0..<400 { ledger.wrong(source: here, account: nil, browser: 700, at: up(2)) }
    #expect(ledger.verdict(source: here, account: nil, browser: 700, at: up(2)) != .within)
    // When the old entries have expired, new ones can be counted again.
    for _ in 0..<5 { ledger.wrong(source: there, account: nil, browser: 700, at: up(700)) }
    #expect(ledger.verdict(source: there, account: nil, browser: 700, at: up(701)) != .within)
  }

  @Test func `after sixty wrong codes in total only sources without a wrong code are let through`() throws {
    var ledger = GuessLedger<String>()
    for last in 0..<60 {
      let source = try #require(SourceKey(address: [10, 0, 0, UInt8(last)]))
      #expect(ledger.verdict(source: source, account: nil, at: up(0)) == .within)
      ledger.wrong(source: source, account: nil, at: up(0))
    }
    let guesser = try #require(SourceKey(address: [10, 0, 0, 7]))
    #expect(
      ledger.verdict(source: guesser, account: nil, at: up(1)) == .over(retryAfter: .seconds(59)))
    #expect(ledger.verdict(source: here, account: nil, at: up(1)) == .within)
    #expect(ledger.verdict(source: guesser, account: nil, at: up(60)) == .within)
  }

  @Test func `a full table of wrong codes unblocks no source`() throws {
    var ledger = GuessLedger<String>(capacity: 3)
    for _ in 0..<5 { ledger.wrong(source: here, account: nil, at: up(0)) }
    for last in 0..<50 {
      let source = try #require(SourceKey(address: [10, 0, 0, UInt8(last)]))
      ledger.wrong(source: source, account: nil, at: up(1))
    }
    #expect(ledger.verdict(source: here, account: nil, at: up(2)) != .within)
    // When the old entries have expired, new ones can be counted again.
    for _ in 0..<5 { ledger.wrong(source: there, account: nil, at: up(700)) }
    #expect(ledger.verdict(source: there, account: nil, at: up(701)) != .within)
  }

  @Test func `a full table of wrong codes lets almost no new source guess`() throws {
    let many = FailureLimit(count: 1_000_000, span: .seconds(60))
    var ledger = GuessLedger<Never>(all: many, capacity: 1000)
    func guess(_ number: Int, at now: Uptime) throws -> Bool {
      let bytes = [0x2A, 0, UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)]
      let source = try #require(SourceKey(address: bytes + [UInt8](repeating: 0, count: 11)))
      guard ledger.verdict(source: source, account: nil, at: now) == .within else { return false }
      ledger.wrong(source: source, account: nil, at: now)
      return true
    }
    var seen = 0
    for number in 0..<100_500 where try guess(number, at: up(number / 2000)) { seen += 1 }
    #expect((1000...1032).contains(seen))
    // While the ledger is full, guesses stay this slow. When the first entries have expired, it works as before.
    var later = 0
    for number in 200_000..<201_000 where try guess(number, at: up(120)) { later += 1 }
    #expect(later == 32)
    for number in 300_000..<300_500 { #expect(try guess(number, at: up(700))) }
  }

  @Test func `all subnetworks of one network together get twenty wrong codes and then one a minute`() throws {
    var ledger = GuessLedger<Never>()
    func source(_ net: UInt8, _ number: Int) throws -> SourceKey {
      let bytes = [0x2A, 0, 0, 1, 0, net, UInt8(number >> 8), UInt8(number & 255)] as [UInt8]
      return try #require(SourceKey(address: bytes + [UInt8](repeating: 0, count: 8)))
    }
    func guess(_ net: UInt8, _ number: Int, at now: Uptime) throws -> Bool {
      let source = try source(net, number)
      guard ledger.verdict(source: source, account: nil, at: now) == .within else { return false }
      ledger.wrong(source: source, account: nil, at: now)
      return true
    }
    var seen = 0
    for second in 0..<300 {
      for number in 0..<50 where try guess(1, second * 50 + number, at: up(second)) { seen += 1 }
    }
    #expect(seen == 25)
    // Other networks are unaffected, except one in 1,024 that shares the counter.
    func counter(_ net: UInt8) throws -> UInt { UInt(bitPattern: try source(net, 0).network.hashValue) % 1024 }
    let others = try (2...9).filter { try counter($0) != counter(1) }
    for number in 0..<5 { #expect(try guess(others[0], 0, at: up(300)), "\(number)") }
    #expect(try guess(others[1], 7, at: up(300)))
  }

  @Test func `an IPv6 network of 64 bits is one source, and an IPv4 address mapped into IPv6 counts as IPv4`() throws {
    func six(_ bytes: [UInt8]) -> SourceKey? {
      SourceKey(address: bytes + [UInt8](repeating: 0, count: 16 - bytes.count))
    }
    let net = [0x20, 0x01, 0x0D, 0xB8, 0, 1, 0, 2] as [UInt8]
    #expect(six(net + [1]) == six(net + [2, 3]))
    #expect(six(net) != six([0x20, 0x01, 0x0D, 0xB8, 0, 1, 0, 3]))
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]
    #expect(SourceKey(address: mapped) == here)
    #expect(SourceKey(address: [1, 2, 3]) == nil)
    #expect(six([]) != SourceKey(address: [0, 0, 0, 0]))
  }
}

@Suite struct `Pauses after failed sign-ins` {
  @Test func `the pause after failed sign-ins doubles and ends at fifteen minutes`() throws {
    var failures: LoginFailures?
    var pauses: [Duration?] = []
    for _ in 0..<17 {
      failures = LoginThrottle.adding(to: failures, at: at(0))
      pauses.append(LoginThrottle.pause(after: failures, at: at(0)))
    }
    #expect(pauses.prefix(4).allSatisfy { $0 == nil })
    #expect(Array(pauses[4..<8]) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    #expect(pauses.last == .seconds(900))
    #expect(LoginThrottle.pause(after: failures, at: at(899)) == .seconds(1))
    #expect(LoginThrottle.pause(after: failures, at: at(900)) == nil)
  }

  @Test func `failed sign-ins expire after a day, and a clock set back locks no account for long`() {
    let many = LoginFailures(count: 50, last: at(0))
    #expect(LoginThrottle.adding(to: many, at: at(86_400)).count == 1)
    #expect(LoginThrottle.adding(to: many, at: at(86_399)).count == 51)
    #expect(LoginThrottle.pause(after: many, at: at(-900)) == .seconds(900))
    // With the clock set back by days the pause would never end, so that there is none. The next failure counts on.
    #expect(LoginThrottle.pause(after: many, at: at(-1_000_000)) == nil)
    let more = LoginThrottle.adding(to: many, at: at(-1_000_000))
    #expect(more == LoginFailures(count: 51, last: at(-1_000_000)))
    #expect(LoginThrottle.pause(after: more, at: at(-1_000_000)) == .seconds(900))
  }
}
