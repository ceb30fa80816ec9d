import HTTPServer
import HTTPTestSupport
import PairingStore
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Rows that a viewer can make the service write` {
  private func box(_ service: TestService, _ device: String, from place: String = "198.51.100.1") throws -> Box {
    let client = InProcessClient(try service.router(), peer: .network(try address(place), port: 1))
    return Box(service: service, client: client, device: device)
  }

  private func open(_ titles: Range<Int>, _ box: Box) async throws -> [UInt16: Int] {
    var statuses: [UInt16: Int] = [:]
    for title in titles { statuses[try await box.authorize("title-\(title)").status, default: 0] += 1 }
    return statuses
  }

  @Test func `new permits have a rate limit for each account, shared by all its devices`() async throws {
    let service = try await TestService()
    try await service.entitle("title-*", .allow)
    let (one, two) = (try box(service, "box-1"), try box(service, "box-2", from: "203.0.113.7"))
    for box in [one, two] { try await box.signIn() }
    service.clock.pass(.seconds(600))
    #expect(try await open(0..<100, one) == [200: 100])
    service.clock.pass(.seconds(5))
    #expect(try await open(100..<200, one) == [200: 100])
    service.clock.pass(.seconds(5))
    #expect(try await open(0..<100, two) == [200: 100])
    service.clock.pass(.seconds(5))
    // Since the last burst the clock has restored 15 permits.
    #expect(try await open(200..<220, one) == [200: 15, 429: 5])
    let late = try await one.authorize("title-999")
    #expect(late.status == 429)
    #expect(late.response.header("retry-after") == "1")
    #expect(late["details"] == "too many new titles were opened within a short time: wait, then try again")
    // An existing permit still gives media tokens and needs no new row.
    #expect(try await one.authorize("title-7").status == 200)
    #expect(try await one.media("title-7").status == 200)
    service.clock.pass(.seconds(1))
    #expect(try await one.authorize("title-999").status == 200)
  }

  @Test func `the accounts of a household share twice the limit, and accounts outside it have their own`() async throws
  {
    let service = try await TestService { $0.limits.permits = RateLimit(perSecond: 1, burst: 3) }
    try await service.entitle("title-*", .allow)
    for name in ["second", "third"] { try await service.addAccount(name, household: "house-1") }
    try await service.addAccount("neighbour", household: "house-2")
    var statuses: [UInt16: Int] = [:]
    for account in [Sample.account, "second", "third", "neighbour"] {
      let box = try box(service, "box-\(account)")
      try await service.approve(try await box.code(), as: account)
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
      let found = try await open(0..<3, box)
      if account == "third" || account == "neighbour" { statuses.merge(found) { $0 + $1 } }
      if account == "third" { #expect(found == [429: 3]) }
    }
    #expect(statuses == [429: 3, 200: 3])
  }

  @Test func `guests of one address have a shared limit that takes nothing from accounts there`() async throws {
    let service = try await TestService { $0.limits.permits = RateLimit(perSecond: 1, burst: 1) }
    try await service.entitle("title-*", .allow)
    var opened = 0
    for guest in 0..<30 {
      let box = try box(service, "guest-\(guest)", from: "203.0.113.9")
      #expect(try await box.preview(Sample.pass).status == 204)
      if try await box.authorize("title-1").status == 200 { opened += 1 }
    }
    #expect(opened == 20)
    let viewer = try box(service, "box-1")
    try await viewer.signIn()
    #expect(try await viewer.authorize("title-1").status == 200)
  }

  @Test func `guests of many addresses have a shared limit at their requestor, which takes nothing from its accounts`()
    async throws
  {
    let service = try await TestService { $0.limits.newcomers = RateLimit(perSecond: 1, burst: 1) }
    var statuses: [UInt16: Int] = [:]
    for guest in 0..<120 {
      let box = try box(service, "guest-\(guest)", from: "203.0.113.\(guest)")
      statuses[try await box.preview(Sample.pass).status, default: 0] += 1
    }
    #expect(statuses == [204: 100, 429: 20])
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      try await phone.reachApproval(try await newCode(service, client))
      try await phone.send("approve")
      #expect(phone.address.hasSuffix("/result"))
    }
  }

  @Test func `renewing a permit reuses its row and does not count as new`() async throws {
    let service = try await TestService { $0.limits.permits = RateLimit(perSecond: 1, burst: 1) }
    try await service.entitle("title-*", .allow)
    let box = try box(service, "box-1")
    try await box.signIn()
    for _ in 0..<40 {
      #expect(try await box.authorize("title-1").status == 200)
      service.clock.pass(.milliseconds(100))
    }
    // The permit has expired, and its renewal does not count against the limit of new permits.
    service.clock.pass(.seconds(86_400 * 2))
    #expect(try await box.authorize("title-2").status == 200)
    #expect(try await box.authorize("title-1").status == 200)
    #expect(try await box.authorize("title-3").status == 429)
  }

  @Test func `an account keeps a limited number of sign-ins, and a new one ends the one unused for longest`()
    async throws
  {
    let service = try await TestService { $0.limits.signInsOfAccount = 3 }
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      func pair(_ device: String) async throws {
        try await phone.reachApproval(try await newCode(service, client, device: device))
        try await phone.send("approve")
        #expect(phone.address.hasSuffix("/result"))
        service.clock.pass(.seconds(10))
        #expect(try await isIn(device))
      }
      func isIn(_ device: String) async throws -> Bool {
        try await service.call(client, "GET", "/api/v1/tokens/authn?deviceId=\(device)").status == 200
      }
      for device in ["hall", "attic", "kitchen"] { try await pair(device) }
      service.clock.pass(.seconds(10))
      // A request of the oldest sign-in makes it the most recently used.
      #expect(try await isIn("hall"))
      try await pair("garage")
      #expect(try await service.signIns() == 3)
      #expect(try await !isIn("attic"))
      for device in ["hall", "kitchen", "garage"] { #expect(try await isIn(device)) }
      let lines = try await service.audit("device.sign-out")
      #expect(lines.map(\.subject) == [service.core.hasher.device(try named("attic")).shortName])
      let detail = try #require(lines.first?.detail)
      #expect(detail.hasSuffix("has more than 3 sign-ins: this box was unused for longest"), "\(detail)")
      // The same device again replaces its own sign-in.
      try await pair("garage")
      #expect(try await service.signIns() == 3)
    }
  }

  @Test func `a viewer signs in a burst of devices, then gets 429, while other viewers are not limited`() async throws {
    let service = try await TestService { $0.limits.newcomers = RateLimit(perSecond: 1, burst: 3) }
    try await service.addAccount("second")
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      for device in 0..<3 {
        service.clock.pass(.seconds(1))
        try await phone.reachApproval(try await newCode(service, client, device: "box-\(device)"))
        try await phone.send("approve")
        #expect(phone.address.hasSuffix("/result"))
      }
      service.clock.pass(.seconds(3))
      let code = try await newCode(service, client, device: "box-9")
      try await phone.reachApproval(code)
      try await phone.send("approve")
      #expect(phone.page.status == 429)
      var other = PhoneBrowser(client)
      try await other.signIn("second")
      try await other.reachApproval(try await newCode(service, client, device: "box-10"))
      try await other.send("approve")
      #expect(other.address.hasSuffix("/result"))
      service.clock.pass(.seconds(10))
      try await phone.open("/D/\(code)/approve")
      try await phone.send("approve")
      #expect(phone.address.hasSuffix("/result"))
    }
  }
}

extension TestService {
  fileprivate func signIns() async throws -> Int {
    try await core.store.authentications(AuthenticationFilter(), after: nil, limit: 99, at: core.clock.now).count
  }
}
