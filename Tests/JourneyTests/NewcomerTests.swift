import HTTPServer
import HTTPTestSupport
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Limits for new devices at one address` {
  private func serving(_ change: @escaping (inout ServiceLimits) -> Void) async throws
    -> TestService
  {
    try await TestService(options: { change(&$0.limits) })
  }

  private let three = RateLimit(perSecond: 1, burst: 3)

  @Test func `an address gets a hundred new codes at once, then one a second, and known devices are not counted`()
    async throws
  {
    let service = try await serving { $0.newCodes = .newcomers }
    let router = try service.router()
    let hall = InProcessClient(router, peer: .network(try address("198.51.100.1"), port: 1))
    let home = InProcessClient(router, peer: .network(try address("198.51.100.2"), port: 1))
    func ask(_ client: any TestClient, _ device: Int) async throws -> TestResponse {
      try await service.call(
        client, "POST", "/reggie/v1/REF30/regcode.json?ttl=36000&deviceId=made-up-\(device)")
    }
    for device in 1...100 { #expect(try await ask(hall, device).status == 201) }
    let late = try await ask(hall, 101)
    #expect(late.status == 429)
    #expect(late.header("retry-after") == "1")
    // A device that already has a code replaces it.
    #expect(try await ask(hall, 1).status == 201)
    #expect(try await ask(home, 101).status == 201)
    #expect(service.core.codes.pending == 101)
    service.clock.pass(.seconds(1))
    #expect(try await ask(hall, 102).status == 201)
    #expect(try await ask(hall, 103).status == 429)
  }

  @Test func `replacing the code of one device has a rate limit`() async throws {
    let three = three
    let service = try await serving { $0.newCodes = three }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let ask = "/reggie/v1/REF30/regcode.json?deviceId=box-1"
      for _ in 0...30 {
        let status = try await service.call(client, "POST", ask).status
        #expect(status == 201)
      }
      let late = try await service.call(client, "POST", ask).status
      #expect(late == 429)
      service.clock.pass(.seconds(10))
      let again = try await service.call(client, "POST", ask).status
      #expect(again == 201)
    }
  }

  @Test func `all networks of one IPv6 subscriber get four times the new codes of one`() async throws {
    let three = three
    let service = try await serving { $0.newCodes = three }
    let router = try service.router()
    func codes(_ subscriber: UInt64) async throws -> Int {
      var made = 0
      for number in 0..<20 {
        let address = IPAddress(high: 0x2001_0db8_0000_0000 | subscriber << 16 | UInt64(number), low: 1)
        let client = InProcessClient(router, peer: .network(address, port: 1))
        let status = try await service.call(
          client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box-\(subscriber)-\(number)"
        ).status
        made += status == 201 ? 1 : 0
      }
      return made
    }
    #expect(try await codes(1) == 12)
    #expect(try await codes(2) == 12)
  }

  @Test func `one requestor may use all live codes, and no other requestor is locked out by that`() async throws {
    let service = try await serving { $0.liveCodes = 4 }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      func ask(_ device: String) async throws -> TestResponse {
        try await service.call(client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=\(device)")
      }
      for device in ["a", "b", "c", "d"] { #expect(try await ask(device).status == 201) }
      let full = try await ask("e")
      #expect(full.status == 503)
      #expect(full.header("retry-after") == "30")
      #expect(full.text.contains("4 codes wait for a phone, which is the limit"))
      #expect(service.core.codes.pending == 4)
      // With two requestors the share is two codes: at the cap a requestor with two or more codes is refused, and one
      // with fewer may still add codes.
      try await service.change(.requestor(Requestor(id: try named("OTHER"), name: "Other")))
      #expect(try await ask("e").status == 503)
      let (two, one) = (LiveCodeLimits(4, among: 2), LiveCodeLimits(4))
      #expect(two.most(having: 4) == 4 && two.most(having: 2) == 4)
      #expect(two.most(having: 1) == 8 && one.most(having: 0) == 4)
      let code = try await ask("a").json().string("code")
      try await service.approve(code)
      for device in ["b", "c"] {
        let again = try await ask(device).json().string("code")
        let remove = "/reggie/v1/REF30/regcode/\(again)?deviceId=\(device)"
        #expect(try await service.call(client, "DELETE", remove).status == 204)
      }
      #expect(service.core.codes.pending == 1)
      for device in ["e", "f", "g"] { #expect(try await ask(device).status == 201) }
      #expect(try await ask("h").status == 503)
      // Expired codes make room as well.
      service.clock.pass(.seconds(1920))
      _ = service.core.codes.sweep(at: service.clock.now)
      #expect(service.core.codes.pending == 0)
      #expect(try await ask("h").status == 201)
    }
  }

  @Test func `five hundred guests of one address start at once, and the next gets 429`() async throws {
    let service = try await TestService()
    try await withPhone(service) { client in
      for device in 1...500 {
        let status = try await Box(service: service, client: client, device: "room-\(device)").preview(Sample.pass)
          .status
        #expect(status == 204)
      }
      let late = try await Box(service: service, client: client, device: "room-501").preview(Sample.pass).status
      #expect(late == 429)
    }
  }

  @Test func `an approval by a guest on the phone counts like a call of the box`() async throws {
    let three = three
    let service = try await serving { $0.newcomers = three }
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.reachApprovalAsGuest(code)
      // Guests have five times the limit.
      for device in 1...15 {
        let box = Box(service: service, client: client, device: "made-up-\(device)")
        #expect(try await box.preview(Sample.pass).status == 204)
      }
      try await phone.send("approve")
      #expect(phone.page.status == 429)
      #expect(phone.page.header("retry-after") == "1")
      let poll = "/api/v1/tokens/authn?deviceId=box-1"
      #expect(try await service.call(client, "GET", poll).status == 404)
      service.clock.pass(.seconds(1))
      try await phone.open("/D/\(code)/approve")
      try await phone.send("approve")
      #expect(phone.address == "/D/\(code)/result")
      #expect(try await service.call(client, "GET", poll).status == 200)
      // An approval with an account does not count as a guest.
      let second = try await newCode(service, client, device: "box-2")
      var viewer = PhoneBrowser(client)
      try await viewer.reachApproval(second)
      try await viewer.send("approve")
      #expect(viewer.address == "/D/\(second)/result")
    }
  }

  @Test func `when two browsers sign in with one code, the browser that fails gets no session`() async throws {
    let service = try await TestService()
    let guest = Viewer(provider: try named(Sample.pass), account: nil)
    func sessions() async throws -> Int {
      try await service.core.store.sessions(of: guest, at: service.clock.now).count
    }
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(code)")
      try await phone.send("open")
      let (form, opened) = (phone.formToken, phone.cookies)
      let choice = ["csrf": form, "provider": Sample.pass]
      // Of several browsers at the same moment one gets the code.
      let statuses = try await withThrowingTaskGroup(of: UInt16.self) { group in
        for _ in 0..<8 {
          group.addTask {
            var other = PhoneBrowser(client)
            try await other.open("/D/\(code)")
            try await other.send("open")
            return try await other.send("provider", ["provider": Sample.pass], following: false).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 303 } == 1)
      #expect(statuses.count { $0 == 409 } == 7)
      #expect(try await sessions() == 1)
      let before = service.core.metrics.now[.signIns]
      for _ in 0..<20 {
        phone.cookies = opened
        #expect(try await phone.post("/D/\(code)/provider", choice).status == 409)
      }
      #expect(service.core.metrics.now[.signIns] == before)
      #expect(try await sessions() == 1)
    }
  }

  @Test func `becoming a guest in the browser has a rate limit`() async throws {
    let three = three
    let service = try await serving { $0.newcomers = three }
    try await withPhone(service) { client in
      let code = try await newCode(service, client)
      var phone = PhoneBrowser(client)
      try await phone.open("/D/\(code)")
      try await phone.send("open")
      for _ in 0..<15 {
        try await phone.send("provider", ["provider": Sample.pass])
        #expect(phone.address == "/D/\(code)/approve")
        try await phone.send("release")
      }
      try await phone.send("provider", ["provider": Sample.pass])
      #expect(phone.page.status == 429)
      #expect(phone.page.header("retry-after") == "1")
    }
  }
}
