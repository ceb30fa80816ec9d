import HTTPServer
import HTTPTestSupport
import RegentHTTPCodec
import RegentPairing
import PairingStore
import RegentPlatform
import ServiceTestSupport
import Testing

@testable import PairingService

/// Attackers with any number of addresses: how many of their guesses the service looks up.
@Suite struct `Guesses from many addresses` {
  /// Sends guesses, each from a network of its own, and returns how many the service looked up.
  private func guesses(_ numbers: Range<Int>, _ service: TestService, _ router: some Handler) async throws
    -> Int
  {
    var seen = 0
    for number in numbers {
      // Addresses in 2001::/16, each in a /48 of its own.
      let high = 0x2001_0000_0000_0000 | UInt64(number) << 16 | 1
      let client = InProcessClient(
        router, peer: .network(IPAddress(high: high, low: 1), port: 1))
      let status = try await service.call(
        client, "GET", "/api/v1/authenticate/\(try guess(number))"
      ).status
      #expect(status == 404 || status == 429)
      if status == 404 { seen += 1 }
    }
    return seen
  }

  @Test func `guesses from many addresses are looked up about 60 times a minute, and at most 92 at once`()
    async throws
  {
    let service = try await TestService()
    let router = try service.router()
    let first = try await guesses(0..<1500, service, router)
    #expect((60...92).contains(first))
    var all = first
    for second in 1...600 {
      service.clock.pass(.seconds(1))
      all += try await guesses(10_000 + second * 5..<10_000 + second * 5 + 5, service, router)
    }
    // The hash that assigns networks to buckets is random for each process: 730 to 751 were measured.
    #expect(all <= 11 * 72)
    // The metric counts only the guesses that were looked up.
    #expect(service.core.metrics.now[.wrongCodes] == all)
    // An attacker with the secret of one app exhausts neither the budget of other apps nor that of the phones.
    let viewer = InProcessClient(
      try await service.phoneRouter(), peer: .network(try address("198.51.100.7"), port: 1))
    let code = try await newCode(service, viewer)
    var phone = PhoneBrowser(viewer)
    try await phone.reachApproval(code)
    #expect(phone.address == "/D/\(code)/approve")
  }

  @Test func `a flood of guesses leaves a signed-in viewer her own attempts`() async throws {
    let service = try await TestService()
    let router = try await service.phoneRouter()
    let now = service.clock.service.uptime
    for number in 0..<5000 {
      let address = IPAddress(ipv4: 0x0A00_0000 + UInt32(number) * 256)
      if (try? service.core.limits.mayTryCode(from: address, as: .phone(nil))) != nil {
        service.core.limits.wrongCode(from: address, as: .phone(nil))
      }
    }
    #expect(service.core.metrics.now[.wrongCodes] <= 92)
    let viewer = InProcessClient(router, peer: .network(try address("203.0.113.7"), port: 1))
    let code = try await newCode(service, viewer)
    var phone = PhoneBrowser(viewer)
    try await phone.signIn()
    try await phone.open("/")
    try await phone.send("/code", ["code": code])
    #expect(phone.address == "/D/\(code)/approve")
    // A minute after the flood, guests can enter codes again, too.
    service.clock.pass(.seconds(61))
    #expect(service.clock.service.uptime > now)
    let other = try await newCode(service, viewer, device: "box-2")
    var guest = PhoneBrowser(viewer)
    try await guest.reachApproval(other)
    #expect(guest.address == "/D/\(other)/approve")
  }
}

@Suite struct `Log lines that unauthenticated requests cause` {
  @Test func `log lines are limited for each kind of event, and the log says how many were left out`() {
    let clock = TestClock()
    let lines = Locked<[String: Int]>([:])
    let told = Locked<[String]>([])
    let log = ServiceLog { _, event, fields in
      lines.withLock { $0["\(event)", default: 0] += 1 }
      if "\(event)" == "lines-left-out" { told.withLock { $0 += fields.map(\.1) } }
    }.capped(by: clock.service)
    for _ in 0..<100_000 { log.info("form-refused", ("reason", "origin")) }
    for _ in 0..<100_000 { log.warning("wrong-code", ("address", "192.0.2.1")) }
    #expect(lines.withLock { $0 } == ["form-refused": 200, "wrong-code": 200])
    clock.pass(.seconds(1))
    for _ in 0..<100 { log.info("form-refused", ("reason", "origin")) }
    #expect(lines.withLock { $0["form-refused"] } == 210)
    #expect(told.withLock { $0 } == ["form-refused", "99800"])
    log.error("store", ("reason", "disk"))
    #expect(lines.withLock { $0["store"] } == 1)
  }

  @Test func `refused forms cause at most 200 log lines at once, while the metric counts all`() async throws {
    let lines = Locked(0)
    let service = try await TestService(
      log: ServiceLog { _, event, _ in
        if "\(event)" == "form-refused" { lines.withLock { $0 += 1 } }
      })
    try await withPhone(service) { client in
      for _ in 0..<500 {
        let answer = try await client.send(TestRequest("POST", "/code"))
        #expect(answer.status == 403)
      }
    }
    #expect(lines.withLock { $0 } == 200)
    #expect(service.core.metrics.now[.callsRefused] == 500)
  }
}
