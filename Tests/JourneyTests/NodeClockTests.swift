import Administration
import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import PairingStorePostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

/// A store that reports the clock difference and the other nodes that a test sets.
private final class OtherClocksStore: ForwardingStore {
  let target: any Store = MemoryStore(isShared: true)
  let status = Locked(ClusterStatus())

  func report(_ said: String) async throws(StoreError) -> ClusterStatus { status.withLock { $0 } }

  func hear(own: Duration, _ others: [NodeStatusExchange.Said]) {
    status.withLock { $0 = ClusterStatus(serving: others.count + 1, clockAhead: own, others: others.map(\.text)) }
  }
}

@Suite struct `Nodes with a wrong clock` {
  @Test func `a node takes itself out when most others agree on another time, and never all nodes do`() {
    func standing(_ own: Int, _ others: Int..., after earlier: NodeClocks.Verdict = .agrees) -> NodeClocks.Verdict {
      NodeClocks.standing(of: .seconds(own), among: others.map { .seconds($0) }, after: earlier)
    }
    // Alone, or without another node that agrees with the database, a node may not assume that its own clock is wrong.
    #expect(standing(30) == .agrees && standing(-31) == .disputed && standing(600) == .disputed)
    #expect(standing(600, 601) == .disputed && standing(600, 600, 600) == .disputed)
    #expect(standing(600, -600) == .disputed && standing(600, 1_200, -600) == .disputed)
    // One other node is enough beside the database, and fewer nodes must share this node's time than disagree with it.
    #expect(standing(31, 0) == .outvoted && standing(-600, 2) == .outvoted && standing(30, 0) == .agrees)
    #expect(standing(600, 0, 610) == .disputed, "two clocks against two")
    #expect(standing(600, 0, 0, 610) == .outvoted && standing(0, 600, 600, 0) == .agrees)
    // Here the clock of the database's own machine is wrong.
    #expect(standing(0, 600, 600) == .agrees && standing(0, 600, 600, 600) == .outvoted)
    #expect(standing(600, 0, 600, 600) == .disputed)
    // Hysteresis: to be trusted again, the clock must be closer than the limit at which it was rejected.
    #expect(standing(28, 0, after: .outvoted) == .outvoted && standing(25, 0, after: .outvoted) == .agrees)
    #expect(standing(28, after: .disputed) == .disputed && standing(25, after: .disputed) == .agrees)
    // Whatever the clocks show, at least one node serves.
    var random = SystemRandomNumberGenerator()
    for _ in 1...2_000 {
      let clocks = (1...Int.random(in: 1...8, using: &random)).map { _ in
        Duration.seconds(Int.random(in: -130...130, using: &random))
      }
      let standings = clocks.indices.map { place in
        var others = clocks
        return NodeClocks.standing(of: others.remove(at: place), among: others)
      }
      #expect(standings.contains { $0 != .outvoted }, "\(clocks)")
    }
  }

  @Test func `a node with a wrong clock reports 503 at readyz, and 200 after it was corrected`() async throws {
    let store = OtherClocksStore()
    let lines = Locked<[String]>([])
    let log = ServiceLog { _, event, fields in lines.withLock { $0.append("\(event) \(fields.first?.1 ?? "")") } }
    let service = try await TestService(on: store, log: log)
    let client = InProcessClient(try Router(ServiceRoutes.devices(service.core), refuse: ServiceRoutes.refuse))
    func heard(_ own: Duration, _ others: NodeStatusExchange.Said...) async throws -> (status: UInt16, text: String) {
      store.hear(own: own, others)
      // A repeated report is logged once.
      for _ in 1...3 { try await NodeStatusExchange(service.core).once() }
      let ready = try await client.get("/readyz")
      return (ready.status, ready.text)
    }
    let right = NodeStatusExchange.Said(clockAhead: .zero)
    #expect(try await heard(.seconds(29), right).status == 200)
    let out = try await heard(.seconds(-301), right)
    #expect(out.status == 503 && out.text.contains("the clock is wrong: most others agree on another time"), "\(out)")
    let numbers = service.core.metricsText()
    #expect(numbers.contains("\nregent_clock_off_seconds -301.0\n"), "\(numbers)")
    #expect(numbers.contains("\nregent_clock_outvoted 1\n"))
    // If this node left, no node would serve: one is draining, and the other has not compared its clock.
    let alone = try await heard(.seconds(-301), .init(isDraining: true, clockAhead: .zero), .init())
    #expect(alone.status == 200 && alone.text.contains(#""clock":"differs from the database server's"#), "\(alone)")
    #expect(service.core.metricsText().contains("\nregent_clock_outvoted 0\n"))
    #expect(try await heard(.seconds(1), right).status == 200)
    #expect(
      lines.withLock { $0 }.filter { $0.hasPrefix("clock-") } == [
        "clock-outvoted 301 s behind the database's", "clock-disputed 301 s behind the database's", "clock-agrees ",
      ])
  }

  /// With a wrong time the service would tell clients that valid tokens have expired, and clients would discard them.
  @Test
  func `a node with a wrong clock answers everything that depends on time with 503, and no client loses anything`()
    async throws
  {
    let store = OtherClocksStore()
    let service = try await TestService(on: store)
    let client = InProcessClient(try await service.phoneRouter())
    func hear(_ own: Duration) async throws {
      store.hear(own: own, [NodeStatusExchange.Said(clockAhead: .zero)])
      try await NodeStatusExchange(service.core).once()
    }
    let box = try await OAuthBox(service, client)
    let tokens = try await box.pair()
    let refresh = try #require(tokens.refresh)
    let code = try await box.begin()
    // The clock jumps while no request is pending.
    let days: Duration = .seconds(40 * 86_400)
    service.clock.setAhead(days)
    try await hear(days)
    for answer in [try await box.refresh(refresh), try await box.ask(code.device)] {
      #expect(answer.status == 503 && answer.error == "temporarily_unavailable", "\(answer.text)")
      #expect(answer.header("retry-after") == "5")
    }
    // Every route answers 503 in the format of its path.
    for (_, pattern) in try await service.mountedRoutes() {
      let steps = pattern.prefix { $0 != "[" }.split(separator: "/", omittingEmptySubsequences: false)
      let path = steps.map { step in
        if step.hasPrefix("{") { return "x" }
        return step.hasPrefix("(") ? String(step.dropFirst().dropLast()) : String(step)
      }.joined(separator: "/")
      for method in ["GET", "POST", "PUT", "DELETE"] {
        let answer = try await client.send(TestRequest(method, path))
        let isTimeless = ["/healthz", "/readyz", "/static/"].contains(where: path.hasPrefix)
        #expect(isTimeless || (answer.status == 503 && answer.header("retry-after") == "5"), "\(method) \(path)")
      }
    }
    #expect(try await client.get("/healthz").status == 200)
    let page = try await client.send(TestRequest("GET", "/", headers: [("Accept-Language", "it")]))
    #expect(page.text.contains("lang=\"it\""))
    // After the clock is corrected, all tokens and codes are as before.
    service.clock.setAhead(.zero)
    try await hear(.zero)
    #expect(try await box.refresh(refresh).status == 200)
    #expect(try await box.ask(code.device).error == "authorization_pending")
  }

  @Test func `on PostgreSQL a node with a wrong clock takes itself out, and doctor names it`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let off = Locked(Duration.zero)
    let stores = try ["a", "b"].map { name in
      var options = try place.options(node: name)
      options.wallClock = {
        Instant(milliseconds: Clocks.wallMilliseconds()) + (name == "b" ? off.withLock { $0 } : .zero)
      }
      return try PostgreSQLStore(options)
    }
    defer { for store in stores { store.close() } }
    let nodes = try await Nodes(on: stores[0], stores[1]) { _ in }
    func ready(_ node: TestService) async throws -> UInt16 {
      let router = try Router(ServiceRoutes.devices(node.core), refuse: ServiceRoutes.refuse)
      return try await InProcessClient(router).get("/readyz").status
    }
    try await nodes.hearing {
      #expect(try await [ready(nodes.a), ready(nodes.b)] == [200, 200])
      off.withLock { $0 = .seconds(-400) }
      try await eventually("node B takes itself out of service") { try await ready(nodes.b) == 503 ? true : nil }
      #expect(try await ready(nodes.a) == 200)
      let doctor = try await eventually("node A learns that node B is out of service") {
        let said = try await AdminSocket(nodes.a.core).send("GET", "/v1/doctor").text
        return said.contains("this node serves no requests") ? said : nil
      }
      #expect(doctor.contains("its clock is 400 s behind the database's"), "\(doctor)")
      off.withLock { $0 = .zero }
      try await eventually("node B is ready again") { try await ready(nodes.b) == 200 ? true : nil }
    }
  }

  @Test func `doctor reports a clock beyond the bound as bad, and says when it cannot tell which clock is wrong`()
    throws
  {
    func said(_ clocks: (String, Int)...) throws -> [String] {
      let nodes = try clocks.map { name, ahead in
        NodeRecord(
          id: try named(name), version: "0.2.0", started: Instant(milliseconds: 0), silence: .zero,
          said: NodeStatusExchange.Said(clockAhead: .seconds(ahead)).text, instruction: nil)
      }
      return NodeFindings.findings(about: nodes).map { "\($0.status) \($0.check): \($0.detail)" }
    }
    #expect(
      try said(("a", 0), ("b", 90), ("c", 5)) == [
        "bad node b: its clock is 90 s ahead of the database's, and most nodes agree on another time: this node"
          + " serves no requests", "warning node c: its clock is 5 s ahead of the database's",
      ])
    #expect(
      try said(("a", -90), ("b", -91))
        == ["a", "b"].enumerated().map { number, name in
          "bad node \(name): its clock is \(90 + number) s behind the database's, and it is unknown which of the two is"
            + " wrong: the node keeps serving"
        })
  }
}
