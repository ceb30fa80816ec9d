import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentHTTPCodec
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

private let path = "/api/v1/config/REF30"
private let month: Duration = .seconds(31 * 86_400)

/// What happens to a service when the clock of its machine is set to another time.
@Suite struct `Changes of the system clock` {
  @Test func `a clock that jumps ahead for some seconds ends no sign-in and no browser session`() async throws {
    try await withService { service, client in
      let box = Box(service: service, client: client)
      try await service.approve(try await box.code())
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
      let session = SessionRecord(
        id: try named("browser"), token: service.core.hasher.token("cookie"),
        viewer: Viewer(provider: try named(Sample.provider), account: try named(Sample.account)),
        started: service.clock.now, lastUsed: service.clock.now)
      try await service.core.store.startSession(session, replacing: nil, proved: nil, at: service.clock.now)
      let upkeep = Upkeep(service.core)
      await upkeep.once()
      service.clock.setAhead(month + month)
      for _ in 0..<3 {
        service.clock.pass(.seconds(5))
        await upkeep.once()
      }
      #expect(try await box.get("/api/v1/tokens/authn").status != 200)
      guard case .ahead(let ahead, _) = service.core.clockTrouble else {
        Issue.record("the clock that is ahead is not reported")
        return
      }
      #expect(ahead == month + month)
      #expect(service.core.metricsText().contains("regent_clock_ahead_seconds 5356800\n"))
      // The same holds for a service that starts while the clock is ahead.
      await upkeep.keepEverything()
      let later = try await TestService(restarting: service, on: service.core.store).core
      await Upkeep(later).once()
      #expect(later.clockTrouble != nil)

      service.clock.setAhead(.zero)
      await upkeep.once()
      #expect(service.core.clockTrouble == nil)
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
      #expect(
        try await service.core.store.session(session.token, at: service.clock.now) != nil)
    }
  }

  @Test func `a clock that stays ahead for a day is accepted, and expired rows are deleted`() async throws {
    try await withService { service, client in
      let box = Box(service: service, client: client)
      try await service.approve(try await box.code())
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
      let upkeep = Upkeep(service.core)
      await upkeep.once()
      service.clock.setAhead(month + month)
      await upkeep.once()
      for _ in 0..<24 {
        #expect(service.core.clockTrouble != nil)
        service.clock.pass(.seconds(3600))
        await upkeep.once()
      }
      #expect(service.core.clockTrouble == nil)
      #expect(
        try await service.core.store.authentications(
          AuthenticationFilter(), after: nil, limit: 9, at: service.clock.now
        ).isEmpty)
    }
  }

  @Test func `after the clock is set back, boxes can call at once`() async throws {
    try await withService { service, client in
      func status(at time: Instant? = nil) async throws -> UInt16 {
        try await client.get(path, headers: [try service.signature("GET", path, at: time)]).status
      }
      #expect(try await status() == 200)
      service.clock.setAhead(month)
      for _ in 0..<20 {
        service.clock.pass(.seconds(60))
        #expect(try await status() == 200)
      }
      service.clock.setAhead(.zero)
      #expect(try await status() == 200)
      #expect(service.core.clockTrouble == nil)
      let ready = try await InProcessClient(
        Router(ServiceRoutes.devices(service.core), refuse: ServiceRoutes.refuse)
      ).get("/readyz")
      #expect(ready.status == 200 && !ready.text.contains("clock"))
    }
  }

  @Test func `doctor and readyz say what is wrong with the clock`() async throws {
    let service = try await TestService(options: { $0.limits.nonces = 64 })
    let client = InProcessClient(try Router(ServiceRoutes.devices(service.core), refuse: ServiceRoutes.refuse))
    let admin = try AdminSocket(service.core)
    func said() async throws -> (ready: String, doctor: String) {
      let ready = try await client.get("/readyz")
      // The service can still serve boxes, so a load balancer must not take it out of its pool.
      #expect(ready.status == 200)
      return (ready.text, try await admin.send("GET", "/v1/doctor").text)
    }
    func call() async throws -> UInt16 {
      try await client.get(path, headers: [try service.signature("GET", path)]).status
    }
    #expect(try await !said().doctor.contains("clock"))
    service.clock.setAhead(month)
    await Upkeep(service.core).once()
    var words = try await said()
    #expect(words.ready.contains(#""clock":"ahead: nothing is deleted for its age""#), "\(words.ready)")
    #expect(words.doctor.contains("the machine's clock jumped ahead by 31 days"), "\(words.doctor)")
    #expect(words.doctor.contains("timedatectl"))
    // A corrected clock looks the same for a day, so this alone must not make doctor fail.
    #expect(!words.doctor.contains(#""check":"clock","status":"bad""#), "\(words.doctor)")
    // The service has forgotten the nonces of these minutes when the clock shows the same minutes again.
    service.clock.setAhead(.zero)
    service.clock.pass(.seconds(400))
    for _ in 0..<1000 {
      service.clock.pass(.seconds(1))
      #expect(try await call() == 200)
    }
    service.clock.setAhead(.seconds(-700))
    #expect(try await call() == 401)
    words = try await said()
    #expect(words.ready.contains(#""clock":"was set back: signed calls are refused""#), "\(words.ready)")
    #expect(words.doctor.contains("was set back: the service refuses signed calls for"), "\(words.doctor)")
    service.clock.pass(.seconds(701))
    #expect(try await call() == 200)
    words = try await said()
    #expect(!words.ready.contains("clock") && !words.doctor.contains("set back"))
  }

  @Test func `doctor compares the service's clock with the median of the boxes' clocks`() async throws {
    try await withService { service, client in
      let admin = try AdminSocket(service.core)
      func report(_ device: String, seconds: Int64) async throws {
        let date = HTTPDate.text(epochSeconds: service.clock.now.milliseconds / 1_000 + seconds)
        let answer = try await Box(service: service, client: client, device: device).get(
          path, headers: [(name: "Date", value: date)])
        #expect(answer.status == 200)
      }
      func said() async throws -> String {
        let text = try await admin.send("GET", "/v1/doctor").text
        return text.split(separator: "{").first { $0.contains("clock-of-boxes") }.map(String.init) ?? ""
      }
      try await report("box-1", seconds: -8)
      #expect(try await said() == "")
      try await report("box-2", seconds: -40)
      try await report("box-3", seconds: -41)
      #expect(try await said().contains(#""warning""#))
      #expect(try await said().contains("s ahead of the median of 3 boxes"))
      // One wrong box among right ones is that box's problem, which its own doctor names.
      try await report("box-2", seconds: 0)
      #expect(try await said() == "")
      // A flood of devices changes nothing but the median, and a correction of the service's clock counts at once.
      for number in 0..<200 { try await report("flood-\(number)", seconds: 60) }
      #expect(try await said().contains("s behind the median of 64 boxes"))
      service.clock.setAhead(.seconds(60))
      #expect(try await said() == "")
    }
  }

  @Test func `a clock that jumps ahead for some seconds ends a pending code, and the next code has its full lifetime`()
    async throws
  {
    try await withService { service, client in
      let box = Box(service: service, client: client)
      _ = try await box.code()
      service.clock.setAhead(.seconds(2100))
      // By this clock the code has expired. The box is told at once and shows another code.
      #expect(try await box.get("/api/v1/tokens/authn").status == 410)
      let next = try await box.code()
      service.clock.setAhead(.zero)
      service.clock.pass(.seconds(1200))
      await Upkeep(service.core).once()
      #expect(try await box.get("/api/v1/tokens/authn").status == 404)
      try await service.approve(next)
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
      // A code that is never approved expires after its lifetime, however the clock changes.
      _ = try await Box(service: service, client: client, device: "box-2").code()
      service.clock.setAhead(month)
      let late = Box(service: service, client: client, device: "box-3")
      _ = try await late.code()
      service.clock.setAhead(.zero)
      service.clock.pass(.seconds(2500))
      await Upkeep(service.core).once()
      #expect(try await late.get("/api/v1/tokens/authn").status == 404)
      #expect(service.core.codes.pending == 0)
    }
  }

  @Test func `a restarted service accepts no signed header twice`() async throws {
    try await withService { service, client in
      let lead: [Duration] = [.seconds(1), .seconds(120), .seconds(299)]
      let headers = try lead.map {
        try service.signature("GET", path, at: service.clock.now + $0)
      }
      for header in headers {
        #expect(try await client.get(path, headers: [header]).status == 200)
      }
      await Upkeep(service.core).keepEverything()
      service.clock.pass(.milliseconds(800))
      var core = try await TestService(restarting: service, on: service.core.store).core
      for _ in 0..<2 {
        let later = InProcessClient(
          try Router(ServiceRoutes.devices(core), refuse: ServiceRoutes.refuse))
        for header in headers {
          #expect(try await later.get(path, headers: [header]).status == 401)
        }
        let fresh = try service.signature("GET", path, at: service.clock.now + .seconds(120))
        #expect(try await later.get(path, headers: [fresh]).status == 200)
        // The nonces of the first process survive a restart of the second.
        await Upkeep(core).keepEverything()
        core = try await TestService(restarting: service, on: service.core.store).core
      }
    }
  }

  @Test func `a killed service accepts no header twice that was dated ahead`() async throws {
    try await withService { service, client in
      let running = Task { await Upkeep(service.core).run() }
      try await eventually("the mark of a running service is stored") {
        try await service.core.store.keptNumbers(.running, of: nil) == Upkeep.isRunning
      }
      running.cancel()
      await running.value
      let ahead = try service.signature("GET", path, at: service.clock.now + .seconds(200))
      #expect(try await client.get(path, headers: [ahead]).status == 200)
      // A killed process writes nothing on its way out.
      service.clock.pass(.seconds(3))
      func restarted() async throws -> (core: ServiceCore, client: InProcessClient) {
        let core = try await TestService(restarting: service, on: service.core.store).core
        return (core, InProcessClient(try Router(ServiceRoutes.devices(core), refuse: ServiceRoutes.refuse)))
      }
      let (core, later) = try await restarted()
      #expect(try await later.get(path, headers: [ahead]).status == 401)
      for (lead, status) in [(4, 200), (6, 401), (299, 401)] as [(Int, UInt16)] {
        let header = try service.signature("GET", path, at: service.clock.now + .seconds(lead))
        let answer = try await later.get(path, headers: [header])
        #expect(answer.status == status && answer.header("date") != nil, "\(lead) s")
      }
      // After one clock-skew window, and after an orderly stop, headers may be dated ahead again.
      service.clock.pass(.seconds(301))
      let header = try service.signature("GET", path, at: service.clock.now + .seconds(200))
      #expect(try await later.get(path, headers: [header]).status == 200)
      await Upkeep(core).stop()
      let stopped = try await restarted().client
      let fresh = try service.signature("GET", path, at: service.clock.now + .seconds(120))
      #expect(try await stopped.get(path, headers: [fresh]).status == 200)
    }
  }

  private func withService(
    _ body: (TestService, any TestClient) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let store = try SQLiteStore(
        SQLiteStoreOptions(
          path: "\(folder)/regent.db", masterKey: Random.secret(),
          wallClock: { Instant(milliseconds: 0) }))
      defer { store.close() }
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        try await body(service, client)
      }
    }
  }
}

/// Floods by an attacker who has the secret of one app.
@Suite struct `Floods of signed headers` {
  @Test(arguments: [.seconds(297), .seconds(5), .zero, .seconds(-200)] as [Duration])
  func `a flood from one source locks out no other source`(lead: Duration) async throws {
    let service = try await TestService(options: { $0.limits.nonces = 1024 })
    let router = try service.router()
    let attacker = InProcessClient(router, peer: .network(try address("198.51.100.1"), port: 1))
    let home = InProcessClient(router, peer: .network(try address("203.0.113.9"), port: 1))
    service.clock.pass(.seconds(300))
    for _ in 0..<3 {
      for _ in 0..<1200 {
        let header = try service.signature("GET", path, at: service.clock.now + lead)
        _ = try await attacker.get(path, headers: [header])
      }
      for _ in 0..<10 {
        let header = try service.signature("GET", path)
        #expect(try await home.get(path, headers: [header]).status == 200)
      }
      service.clock.pass(.seconds(5))
    }
  }

  @Test func `a request above the rate limit uses up no nonce`() async throws {
    let service = try await TestService(options: { $0.limits.nonces = 1024 })
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let ask = "/api/v1/checkauthn?deviceId=box"
      let header = try service.signature("GET", "/api/v1/checkauthn")
      #expect(try await client.get(ask, headers: [header]).status != 401)
      // A replayed header uses nothing of the device's rate limit.
      for _ in 0..<300 { #expect(try await client.get(ask, headers: [header]).status == 401) }
      #expect(try await service.call(client, "GET", ask).status != 429)
      var refused: [(name: String, value: String)] = []
      for _ in 0..<300 {
        let header = try service.signature("GET", "/api/v1/checkauthn")
        if try await client.get(ask, headers: [header]).status == 429 { refused.append(header) }
      }
      #expect(refused.count > 100)
      service.clock.pass(.seconds(10))
      // A request refused with 429 has stored no nonce, so its header can be sent again.
      #expect(try await client.get(ask, headers: [refused[0]]).status != 401)
    }
  }
}
