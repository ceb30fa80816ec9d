import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

private let path = "/api/v1/config/REF30"
private let month: Duration = .seconds(31 * 86_400)

/// What happens to a service whose machine is told another time.
@Suite struct `a clock that is set` {
  @Test func `ahead for seconds ends no sign-in and no browser's session`() async throws {
    try await withService { service, client in
      let box = Box(service: service, client: client)
      try await service.approve(try await box.code())
      #expect(try await box.get("/api/v1/tokens/authn").status == 200)
      let session = SessionRecord(
        id: try named("browser"), token: service.core.hasher.token("cookie"),
        viewer: Viewer(provider: try named(Sample.provider), account: try named(Sample.account)),
        started: service.clock.now, lastUsed: service.clock.now)
      try await service.core.store.startSession(session, replacing: nil, at: service.clock.now)
      let upkeep = Upkeep(service.core)
      await upkeep.once()
      service.clock.setAhead(month + month)
      for _ in 0..<3 {
        service.clock.pass(.seconds(5))
        await upkeep.once()
      }
      #expect(try await box.get("/api/v1/tokens/authn").status != 200)
      guard case .ahead(let ahead, _) = service.core.clockTrouble else {
        Issue.record("nobody is told")
        return
      }
      #expect(ahead == month + month)
      #expect(service.core.metricsText().contains("regent_clock_ahead_seconds 5356800\n"))
      // The same for a service that starts while the clock is ahead.
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

  @Test func `ahead for good is believed after a day, and what is over is deleted`() async throws {
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

  @Test func `back lets boxes call at once, and says so where it cannot`() async throws {
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

  @Test func `or a service that is started anew takes no header twice`() async throws {
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
        // And what the first process wrote is not lost with the second one.
        await Upkeep(core).keepEverything()
        core = try await TestService(restarting: service, on: service.core.store).core
      }
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

/// One app's secret in the wrong hands.
@Suite struct `a flood of signed headers` {
  @Test(arguments: [.seconds(297), .seconds(5), .zero, .seconds(-200)] as [Duration])
  func `from one source keeps no other out`(lead: Duration) async throws {
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

  @Test func `is counted before it takes room`() async throws {
    let service = try await TestService(options: { $0.limits.nonces = 1024 })
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let ask = "/api/v1/checkauthn?deviceId=box"
      let header = try service.signature("GET", "/api/v1/checkauthn")
      #expect(try await client.get(ask, headers: [header]).status != 401)
      // A header that somebody has seen uses nothing of the box's limit.
      for _ in 0..<300 { #expect(try await client.get(ask, headers: [header]).status == 401) }
      #expect(try await service.call(client, "GET", ask).status != 429)
      var refused: [(name: String, value: String)] = []
      for _ in 0..<300 {
        let header = try service.signature("GET", "/api/v1/checkauthn")
        if try await client.get(ask, headers: [header]).status == 429 { refused.append(header) }
      }
      #expect(refused.count > 100)
      service.clock.pass(.seconds(10))
      // What was turned away has left nothing: its nonce is as good as new.
      #expect(try await client.get(ask, headers: [refused[0]]).status != 401)
    }
  }
}
