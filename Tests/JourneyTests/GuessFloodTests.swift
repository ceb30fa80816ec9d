import HTTPServer
import HTTPTestSupport
import RegentHTTPCodec
import RegentPairing
import PairingStore
import RegentPlatform
import ServiceTestSupport
import Testing

@testable import PairingService

/// Guessers with as many addresses as they like: how many of their codes are looked at.
@Suite struct `a crowd with an address for each guess` {
  /// Guesses, each from a network of its own; returns how many were looked at.
  private func guesses(_ numbers: Range<Int>, _ service: TestService, _ router: Router) async throws
    -> Int
  {
    var seen = 0
    for number in numbers {
      // 2001:db8:… with another /48 for each.
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

  @Test func `gets about sixty looked at a minute, and never more than 92`()
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
    // Which sources share a place is drawn anew in each process: 730 to 751 were seen.
    #expect(all <= 11 * 72)
    // What is told about it is as little.
    #expect(service.core.metrics.now[.wrongCodes] == all)
    // Whoever makes it with one app's secret makes it at no other app, and not for the phones.
    let viewer = InProcessClient(
      try await service.phoneRouter(), peer: .network(try address("198.51.100.7"), port: 1))
    let code = try await newCode(service, viewer)
    var phone = PhoneBrowser(viewer)
    try await phone.reachApproval(code)
    #expect(phone.address == "/D/\(code)/approve")
  }

  @Test func `leaves who is signed in her own tries`() async throws {
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
    // And everybody a minute later, when the crowd is gone.
    service.clock.pass(.seconds(61))
    #expect(service.clock.service.uptime > now)
    let other = try await newCode(service, viewer, device: "box-2")
    var guest = PhoneBrowser(viewer)
    try await guest.reachApproval(other)
    #expect(guest.address == "/D/\(other)/approve")
  }
}

@Suite struct `lines that strangers cause` {
  @Test func `have an end, each kind for itself, and what was left out is told`() {
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

  @Test func `of refused forms are not as many as the forms`() async throws {
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
