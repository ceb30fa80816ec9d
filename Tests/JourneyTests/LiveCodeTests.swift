import RegentCryptography
import HTTPTestSupport
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

/// What memory knows of codes, when two threads tell it in another order than the store did things.
@Suite struct `live codes in memory` {
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

  @Test func `a code that was told withdrawn is not brought back by its late creation`() throws {
    let codes = LiveCodes(clock: clock)
    codes.note(try record(1, .withdrawn))
    codes.add(try record(2), hasEarlierSignIn: false)
    codes.add(try record(1), hasEarlierSignIn: false)
    #expect(codes.find(try named("registration-1"))?.flow.state == .withdrawn)
    #expect(codes.pending == 1)
    let latest = codes.latest(of: try hash(255), at: try named("REF30"))
    #expect(latest?.record.id == (try named("registration-2")))
  }

  @Test func `the pending code of a device counts, whatever the times of the others`() throws {
    for order in [[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]] {
      let codes = LiveCodes(clock: clock)
      for number in order {
        // The withdrawn one was asked for later, by a request that reached the store earlier.
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

  @Test func `a no of the store that a sign-in has overtaken is not believed`() throws {
    let codes = LiveCodes(clock: clock)
    let (device, requestor): (DeviceHash, RequestorID) = (try hash(255), try named("REF30"))
    // The store is asked, the device signed in, and only then comes what the store said.
    let before = codes.signIns
    codes.noteSignIn(of: device, at: requestor)
    codes.add(try record(1), hasEarlierSignIn: false, asOf: before)
    #expect(codes.latest(of: device, at: requestor)?.hasEarlierSignIn == nil)
    #expect(!codes.waits(device, at: requestor, start))
    codes.noteSignIn(false, of: device, at: requestor, asOf: before)
    #expect(!codes.waits(device, at: requestor, start))
    codes.noteSignIn(true, of: device, at: requestor, asOf: before)
    #expect(codes.latest(of: device, at: requestor)?.hasEarlierSignIn == true)
    // Nor does it take away what is known: a poll that begins to wait now would wait until its own end.
    codes.noteSignIn(false, of: device, at: requestor, asOf: before)
    #expect(codes.latest(of: device, at: requestor)?.hasEarlierSignIn == true)
    codes.noteSignIn(false, of: device, at: requestor, asOf: codes.signIns)
    #expect(codes.waits(device, at: requestor, start))
  }

  @Test func `a sweep in pieces counts each end once and forgets`() throws {
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

  @Test func `a code that was seen expired stays so when the clock is set back`() throws {
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
    // What the store wrote at that moment is the truth.
    let approved = try record(1, .withdrawn)
    codes.note(approved)
    #expect(codes.find(try named("registration-1")) == approved)
  }

  @Test func `a poll is answered without a look at the code only while that is certain`()
    throws
  {
    let codes = LiveCodes(clock: clock)
    func waits(after span: Duration = .zero) throws -> Bool {
      codes.waits(try hash(255), at: try named("REF30"), start + span)
    }
    #expect(try !waits())
    // After a restart nobody has looked yet.
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
    // Whoever saw the end keeps it.
    time.pass(.seconds(61))
    #expect(codes.latest(of: try hash(255), at: try named("REF30"))?.record.flow.state == .expired)
    #expect(try !waits())
    codes.add(try record(3), hasEarlierSignIn: false)
    codes.forget(signedBy: [try named("rows")])
    #expect(try !waits())
  }
}
