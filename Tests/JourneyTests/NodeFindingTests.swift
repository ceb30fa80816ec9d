import Administration
import PairingStore
import PairingStoreMemory
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

/// A store that reports the silent nodes that a test sets.
private final class SilentNodesStore: ForwardingStore {
  let target: any Store = MemoryStore(isShared: true)
  let silent = Locked<Set<NodeID>>([])

  func report(_ said: String) async throws(StoreError) -> ClusterStatus {
    ClusterStatus(silent: silent.withLock { $0 })
  }
}

@Suite struct `Metrics and log lines about silent nodes` {
  @Test func `silent nodes are counted and logged once each, and missed changes are counted`() async throws {
    let store = SilentNodesStore()
    let lines = Locked<[String]>([])
    let log = ServiceLog { _, event, fields in
      lines.withLock { $0.append("\(event) \(fields.first?.1 ?? "")") }
    }
    let service = try await TestService(on: store, log: log)
    func numbers() -> [String] {
      service.core.metricsText().split(separator: "\n").map(String.init).filter { $0.hasPrefix("regent_nodes_") }
    }
    #expect(numbers() == ["regent_nodes_missed_total 0", "regent_nodes_silent 0"])
    for names in [["a", "b"], ["a", "b"], ["b"], ["b", "a"]] {
      let now = try Set(names.map { name -> NodeID in try named(name) })
      store.silent.withLock { $0 = now }
      try await NodeStatusExchange(service.core).once()
    }
    let silent = lines.withLock { $0 }.filter { $0.hasPrefix("node-silent") }
    #expect(silent == ["node-silent a", "node-silent b", "node-silent a"])
    service.clock.pass(.seconds(301))
    let following = Task { await NodeFollower(service.core).run(from: ChangePosition([:])) }
    try await eventually("the metrics of a node that received no changes for five minutes") {
      numbers() == ["regent_nodes_missed_total 1", "regent_nodes_silent 2"]
    }
    following.cancel()
    let alone = try await TestService()
    #expect(!alone.core.metricsText().contains("regent_nodes_"), "a single node has no metrics about nodes")
  }
}

@Suite struct `Code counts for operators` {
  @Test(arguments: Ground.allCases)
  func `each node reports the live codes of all nodes`(ground: Ground) async throws {
    try await withNodes(on: ground, options: { $0.limits.liveCodes = 3 }) { nodes in
      try await nodes.withBoxes { atA, atB in
        for (number, box) in [atA, atA, atB].enumerated() {
          var box = box
          box.device = "box-\(number)"
          _ = try await box.code()
        }
      }
      for node in [nodes.a, nodes.b] {
        let admin = try AdminSocket(node.core)
        let stats = try await admin.send("GET", AdminPaths.stats)
        #expect(stats.text.contains("\"liveCodes\":3"), "\(stats.text)")
        let doctor = try await admin.send("GET", AdminPaths.doctor)
        #expect(doctor.text.contains("3 of 3 live codes are in use"), "\(doctor.text)")
      }
    }
  }
}

@Suite struct `Findings of doctor about nodes` {
  private func node(_ name: String, _ version: String = "0.2.0", silence: Duration = .zero, ahead: Duration = .zero)
    throws -> NodeRecord
  {
    NodeRecord(
      id: try named(name), version: version, started: Instant(milliseconds: 0), silence: silence,
      said: NodeStatusExchange.Said(clockAhead: ahead).text, instruction: nil)
  }

  @Test func `doctor finds nothing when nodes respond, are at most one release apart and agree on the time`() throws {
    #expect(NodeFindings.findings(about: []).isEmpty)
    let well = [
      try node("a"), try node("b", "0.3.1", silence: .seconds(5), ahead: .milliseconds(1000)),
      try node("c", ahead: .milliseconds(-1000)),
    ]
    #expect(NodeFindings.findings(about: well).isEmpty)
  }

  @Test func `different public addresses are reported as different token issuers`() throws {
    func node(_ name: String, _ address: String?) throws -> NodeRecord {
      NodeRecord(
        id: try named(name), version: "0.2.0", started: Instant(milliseconds: 0), silence: .zero,
        said: NodeStatusExchange.Said(publicURL: address).text, instruction: nil)
    }
    let (tv, other) = ("https://tv.example.org", "https://other.example.org")
    #expect(try NodeFindings.findings(about: [node("a", tv), node("b", tv), node("of-before", nil)]).isEmpty)
    let found = try NodeFindings.findings(about: [node("a", tv), node("b", other), node("c", tv)])
    #expect(
      found.map { "\($0.status) \($0.check): \($0.detail)" } == [
        "bad nodes: the nodes have different public addresses, so they refuse each other's tokens: \(other) at b; \(tv) at a, c"
      ])
    #expect(found.first?.fix == "start all nodes with the load balancer's address as --public-url")
  }

  @Test(arguments: Ground.allCases)
  func `each node reports its own public address`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      #expect(NodeStatusExchange(nodes.b.core).own.publicURL == "https://tv.example.org")
    }
  }

  @Test func `doctor reports silent nodes, wrong clocks and releases that are too far apart`() throws {
    let found = NodeFindings.findings(about: [
      try node("a", "0.1.0", silence: .seconds(90)), try node("b", ahead: .milliseconds(-2400)),
      try node("c", "0.4.0", ahead: .seconds(3)), try node("d", "0.2.9"),
    ])
    #expect(
      found.map { "\($0.check): \($0.detail)" } == [
        "node a: the node has sent no heartbeat for 90 s", "node b: its clock is 2 s behind the database's",
        "node c: its clock is 3 s ahead of the database's",
        "nodes: the nodes have incompatible versions: 0.2.0, 0.2.9, 0.4.0",
      ])
    #expect(found.allSatisfy { $0.status == .warning && $0.fix != nil })
    #expect(!NodeFindings.isOneReleaseApart(["0.9.0", "1.0.0"]))
  }
}
