import HTTPTestSupport
import RegentCryptography
import RegentJSON
import RegentPairing
import PairingStore
import PairingStoreSQLite
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// What made-up devices that replace their codes leave in memory and on the disk, by count.
@Suite struct `Floods of registration codes` {
  private func rows(_ store: some Store, _ service: TestService) async throws -> Int {
    try await store.registrations(after: nil, limit: 100_000, at: service.clock.now).count
  }

  @Test func `codes that replace each other leave at most the stated number of rows, also after a restart`()
    async throws
  {
    try await withFileStore { store in
      let service = try await TestService(
        on: store,
        options: { options in
          options.limits.replacements = RateLimit(perSecond: 1000, burst: 1000)
          options.limits.device = RateLimit(perSecond: 1000, burst: 1000)
        })
      let devices = 12
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        for _ in 0..<200 {
          for device in 0..<devices {
            let ask = "/reggie/v1/REF30/regcode.json?ttl=36000&deviceId=made-up-\(device)"
            let status = try await service.call(client, "POST", ask).status
            #expect(status == 201)
          }
        }
      }
      let most = EndedCodes.mostWithdrawn + devices
      #expect(service.core.codes.remembered <= most)
      try await service.core.codeTransitions.forgetGiven()
      #expect(try await rows(store, service) == service.core.codes.remembered)
      let again = try await ServiceCore(
        service.core.options, store: store, clock: service.clock.service)
      #expect(again.codes.remembered <= most)
      #expect(again.codes.pending == devices)
      // Minutes later only codes that can be approved are left, ten hours before the others would have expired.
      service.clock.pass(EndedCodes.withdrawnAge + .seconds(1))
      await Upkeep(again).once()
      #expect(again.codes.remembered == devices)
      #expect(try await rows(store, service) == devices)
    }
  }

  @Test func `one device may replace its code 30 times, and other devices are not limited by it`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      func ask(_ device: String) async throws -> TestResponse {
        try await service.call(client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=\(device)")
      }
      for _ in 0...30 { #expect(try await ask("box-1").status == 201) }
      let late = try await ask("box-1")
      #expect(late.status == 429)
      #expect(late.header("retry-after") == "10")
      for number in 2..<200 { #expect(try await ask("box-\(number)").status == 201) }
      service.clock.pass(.seconds(10))
      #expect(try await ask("box-1").status == 201)
      // A delivered answer is not a pending code, so the next request replaces nothing.
      try await service.approve(try await ask("box-2").json().string("code"))
      for _ in 0..<3 { #expect(try await ask("box-2").status == 201) }
    }
  }
}

/// What memory keeps of codes under changing clocks and floods.
@Suite struct `Registration codes in memory` {
  private let wall = TestClock()
  private let boot = TestClock()
  private var clock: ServiceClock {
    ServiceClock(
      wall: { [wall] in wall.now },
      boot: { [boot] in Uptime(milliseconds: boot.now.milliseconds) })
  }

  private func record(
    _ number: Int, lifetime: Duration = .seconds(60), _ state: PairingState = .offered,
    about: DeviceDescription = DeviceDescription(), requestor: String = "REF30"
  ) throws -> RegistrationRecord {
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) }
    let now = wall.now
    return RegistrationRecord(
      id: try named("registration-\(number)"), code: try #require(CodeHash(bytes)),
      requestor: try named(requestor), device: try named("box"),
      deviceHash: try #require(DeviceHash(bytes)), rowKey: try named("rows"), about: about,
      flow: PairingFlow(
        issued: now, expires: now + lifetime, match: nil, state: state,
        sequence: state == .offered ? 1 : 2))
  }

  @Test func `the number of remembered expired codes is bounded for each requestor`() throws {
    let codes = LiveCodes(clock: clock)
    let count = EndedCodes.mostOthers + 5000
    for number in 0..<count {
      codes.add(try record(number, lifetime: .seconds(1)), hasEarlierSignIn: nil)
    }
    codes.add(
      try record(count, lifetime: .seconds(1), requestor: "OTHER"), hasEarlierSignIn: nil)
    wall.pass(.seconds(30))
    boot.pass(.seconds(30))
    #expect(codes.sweep(at: wall.now) == count + 1)
    #expect(codes.remembered <= EndedCodes.mostOthers + 1)
    #expect(codes.pending == 0)
    #expect(codes.find(try named("registration-0"))?.flow.state == .expired)
    // A flood of one requestor evicts no codes of another.
    #expect(codes.find(try named("registration-\(count)"))?.flow.state == .expired)
    let given = codes.takeGiven()
    #expect(given.count == count + 1 - codes.remembered)
    #expect(codes.takeGiven().isEmpty)
  }

  @Test(arguments: [-86_400 * 365, -3600, 0])
  func `codes are forgotten by the boot clock, whatever the time of day does`(
    jump: Int
  ) throws {
    let codes = LiveCodes(clock: clock)
    codes.add(try record(1, lifetime: .seconds(36_000)), hasEarlierSignIn: nil)
    codes.add(try record(2, lifetime: .seconds(36_000), .withdrawn), hasEarlierSignIn: nil)
    wall.pass(.seconds(jump))
    boot.pass(.seconds(290))
    _ = codes.sweep(at: wall.now)
    #expect(codes.remembered == 2)
    boot.pass(.seconds(20))
    _ = codes.sweep(at: wall.now)
    #expect(codes.remembered == 1)
    boot.pass(.seconds(36_000 + 700))
    _ = codes.sweep(at: wall.now)
    #expect(codes.remembered == 0)
    #expect(codes.pending == 0)
    let all: Set<RegistrationID> = [try named("registration-1"), try named("registration-2")]
    #expect(Set(codes.takeGiven()) == all)
  }

  @Test func `forgotten codes leave no entries behind`() throws {
    let codes = LiveCodes(clock: clock)
    for number in 0..<60_000 {
      codes.add(try record(number, lifetime: .seconds(36_000), .withdrawn), hasEarlierSignIn: nil)
    }
    #expect(codes.remembered <= EndedCodes.mostWithdrawn)
    #expect(codes.notes <= 8 * EndedCodes.mostWithdrawn + 20_003)
    wall.pass(.seconds(86_400))
    boot.pass(.seconds(86_400))
    _ = codes.sweep(at: wall.now)
    #expect(codes.notes == 0)
    #expect(codes.remembered == 0)
  }

  @Test func `the total size of device descriptions is bounded, while every code is accepted`() throws {
    let codes = LiveCodes(clock: clock)
    let about = DeviceDescription(information: String(repeating: "x", count: 60_000))
    for number in 0..<1118 {
      #expect(codes.hasRoomForDescriptions)
      codes.add(try record(number, about: about), hasEarlierSignIn: nil)
    }
    codes.add(try record(1118, about: about), hasEarlierSignIn: nil)
    #expect(!codes.hasRoomForDescriptions)
    wall.pass(.seconds(800))
    _ = codes.sweep(at: wall.now)
    #expect(codes.hasRoomForDescriptions)
    #expect(codes.remembered == 0)
  }
}
