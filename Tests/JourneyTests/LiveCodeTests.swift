import RegentCryptography
import HTTPTestSupport
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

/// What memory knows about codes when threads report changes in another order than the store made them.
@Suite struct `Live codes in memory` {
  private let start = Instant(milliseconds: 1_700_000_000_000)
  private let time = TestClock()
  private var clock: ServiceClock { time.service }

  private func record(_ number: Int, issued: Instant? = nil, _ state: PairingState = .offered)
    throws -> RegistrationRecord
  {
    let issued = issued ?? start
    let flow = PairingFlow(
      issued: issued, expires: issued + .seconds(60), match: nil, state: state,
      sequence: state == .offered ? 1 : 2)
    return RegistrationRecord(
      id: try named("registration-\(number)"), code: try hash(number),
      requestor: try named("REF30"),
      device: try named("box"), deviceHash: try hash(255), rowKey: try named("rows"), flow: flow)
  }

  private func hash<Kind>(_ number: Int) throws -> KeyedHash<Kind> {
    try #require(KeyedHash<Kind>([UInt8](repeating: UInt8(number), count: 32)))
  }

  @Test func `a withdrawn code does not become pending when its creation is reported late`() throws {
    let codes = LiveCodes(clock: clock)
    codes.note(try record(1, .withdrawn))
    codes.add(try record(2), hasEarlierSignIn: false)
    codes.add(try record(1), hasEarlierSignIn: false)
    #expect(codes.find(try named("registration-1"))?.flow.state == .withdrawn)
    #expect(codes.pending == 1)
    let latest = codes.latest(of: try hash(255), at: try named("REF30"))
    #expect(latest?.record.id == (try named("registration-2")))
  }

  @Test func `the pending code of a device counts, whatever the times of its other codes`() throws {
    for order in [[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]] {
      let codes = LiveCodes(clock: clock)
      for number in order {
        // The withdrawn code was requested later, by a request that reached the store earlier.
        let record =
          switch number {
          case 1: try record(1, issued: start + .seconds(5), .withdrawn)
          case 2: try record(2)
          default: try record(3, issued: start - .seconds(9), .expired)
          }
        codes.add(record, hasEarlierSignIn: nil)
      }
      let latest = codes.latest(of: try hash(255), at: try named("REF30"))
      #expect(latest?.record.id == (try named("registration-2")), "\(order)")
    }
  }

  @Test func `a negative store answer that is older than a sign-in is not cached`() throws {
    let codes = LiveCodes(clock: clock)
    let (device, requestor): (DeviceHash, RequestorID) = (try hash(255), try named("REF30"))
    // The store is read, the device signs in, and only then the result of the read arrives.
    let before = codes.signIns
    codes.noteSignIn(of: device, at: requestor)
    codes.add(try record(1), hasEarlierSignIn: false, asOf: before)
    #expect(codes.latest(of: device, at: requestor)?.hasEarlierSignIn == nil)
    #expect(!codes.waits(device, at: requestor, start))
    codes.noteSignIn(false, of: device, at: requestor, asOf: before)
    #expect(!codes.waits(device, at: requestor, start))
    codes.noteSignIn(true, of: device, at: requestor, asOf: before)
    #expect(codes.latest(of: device, at: requestor)?.hasEarlierSignIn == true)
    // The stale answer does not overwrite known state either: a poll that parks now would wait until its deadline.
    codes.noteSignIn(false, of: device, at: requestor, asOf: before)
    #expect(codes.latest(of: device, at: requestor)?.hasEarlierSignIn == true)
    codes.noteSignIn(false, of: device, at: requestor, asOf: codes.signIns)
    #expect(codes.waits(device, at: requestor, start))
  }

  @Test func `a sweep in several parts counts each expired code once and then forgets it`() throws {
    let codes = LiveCodes(clock: clock)
    for number in 0..<250 { codes.add(try record(number), hasEarlierSignIn: nil) }
    #expect(codes.pending == 250)
    #expect(codes.sweep(at: start + .seconds(59)) == 0)
    #expect(codes.sweep(at: start + .seconds(120)) == 250)
    #expect(codes.pending == 0)
    #expect(codes.sweep(at: start + .seconds(120)) == 0)
    #expect(codes.find(try named("registration-7"))?.flow.state == .expired)
    #expect(codes.sweep(at: start + .seconds(60 + 600 + 120)) == 0)
    #expect(codes.find(try named("registration-7")) == nil)
    #expect(codes.latest(of: try hash(255), at: try named("REF30")) == nil)
  }

  @Test func `a code that was seen as expired stays expired when the clock is set back`() throws {
    let codes = LiveCodes(clock: clock)
    codes.add(try record(1), hasEarlierSignIn: nil)
    codes.add(try record(2), hasEarlierSignIn: nil)
    time.pass(.seconds(61))
    #expect(codes.find(try named("registration-1"))?.flow.state == .expired)
    time.pass(.seconds(-61))
    #expect(codes.find(try named("registration-1"))?.flow.state == .expired)
    #expect(codes.find(try named("registration-2"))?.flow.state == .offered)
    #expect(codes.pending == 1)
    #expect(codes.sweep(at: start) == 1)
    // A result that the store wrote at that moment takes precedence.
    let approved = try record(1, .withdrawn)
    codes.note(approved)
    #expect(codes.find(try named("registration-1")) == approved)
  }

  @Test func `a poll is answered as pending without a store read only when that is certain`()
    throws
  {
    let codes = LiveCodes(clock: clock)
    func waits(after span: Duration = .zero) throws -> Bool {
      codes.waits(try hash(255), at: try named("REF30"), start + span)
    }
    #expect(try !waits())
    // After a restart the service has not yet looked for an earlier sign-in of the device.
    codes.add(try record(1), hasEarlierSignIn: nil)
    #expect(try !waits())
    codes.noteSignIn(false, of: try hash(255), at: try named("REF30"))
    #expect(try waits())
    #expect(try waits(after: .milliseconds(59_999)))
    #expect(try !waits(after: .seconds(60)))
    #expect(!codes.waits(try hash(255), at: try named("OTHER"), start))
    codes.noteSignIn(true, of: try hash(255), at: try named("REF30"))
    #expect(try !waits())
    codes.noteSignIn(false, of: try hash(255), at: try named("REF30"))
    codes.note(try record(1, .withdrawn))
    #expect(try !waits())
    codes.add(try record(2), hasEarlierSignIn: false)
    #expect(try waits())
    // A code that was once seen as expired stays expired.
    time.pass(.seconds(61))
    #expect(codes.latest(of: try hash(255), at: try named("REF30"))?.record.flow.state == .expired)
    #expect(try !waits())
    codes.add(try record(3), hasEarlierSignIn: false)
    codes.forget(signedBy: [try named("rows")])
    #expect(try !waits())
  }
}
