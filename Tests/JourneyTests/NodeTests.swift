import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Two nodes of one service on one store.
private struct Nodes: Sendable {
  let a: TestService
  let b: TestService

  init() async throws {
    a = try await TestService(on: MemoryStore(isShared: true), options: { $0.node = NodeID("a") })
    b = try await TestService(joining: a, as: "b")
  }

  /// Runs a story in which each node hears of what the other one writes.
  func hearing(_ story: () async throws -> Void) async throws {
    let following = [a, b].map { node in Task { await NodeFollower(node.core).run() } }
    defer { for task in following { task.cancel() } }
    try await story()
  }

  /// Runs a story with a box that calls either.
  func withBoxes(_ story: (_ atA: Box, _ atB: Box) async throws -> Void) async throws {
    try await TestTransport.inProcess.withClient(of: try a.router()) { one in
      try await TestTransport.inProcess.withClient(of: try b.router()) { other in
        try await story(Box(service: a, client: one), Box(service: b, client: other))
      }
    }
  }
}

private let question = "/api/v1/tokens/authn"

@Suite struct `several nodes on one store` {
  @Test func `a code of one node is known at the other, whoever asks`() async throws {
    let nodes = try await Nodes()
    try await nodes.withBoxes { atA, atB in
      let code = try await atA.code()
      #expect(try await atB.get(question).status == 404)
      #expect(try await atB.get("/reggie/v1/REF30/regcode/\(code)")["state"] == "offered")
      #expect(try await atB.get("/api/v1/authenticate/\(code)").status == 404)
      #expect(nodes.b.core.metrics.now[.wrongCodes] == 0, "no guess: another node knows it")
      #expect(try await atB.get("/reggie/v1/REF30/regcode/BCDFGHJK").status == 404)
      #expect(nodes.b.core.metrics.now[.wrongCodes] == 1)
    }
  }

  @Test func `the phone is at one node and the box at the other`() async throws {
    let nodes = try await Nodes()
    try await nodes.withBoxes { atA, atB in
      let code = try await atA.code()
      try await withPhone(nodes.b) { client in
        var phone = PhoneBrowser(client)
        try await phone.reachApproval(code)
        try await phone.send("approve")
      }
      // Nobody told node A; it looks before it says more than "not yet".
      #expect(try await atB.get(question).status == 200)
      #expect(try await atA.get("/reggie/v1/REF30/regcode/\(code)")["state"] == "offered", "memory may say: not yet")
      try await nodes.hearing {
        try await eventually("node A hears of it") {
          try await atA.get("/reggie/v1/REF30/regcode/\(code)")["state"] == "delivered"
        }
      }
      #expect(try await atA.get(question).status == 200)
    }
  }

  @Test func `a held answer comes from the other node`() async throws {
    let nodes = try await Nodes()
    try await TestTransport.socket.withClient(of: try nodes.a.router()) { client in
      let box = Box(service: nodes.a, client: client)
      let code = try await box.code()
      try await nodes.hearing {
        async let held = box.get(question, headers: [("Prefer", "wait=55")])
        try await eventually("a held answer") { nodes.a.core.waiters.count == 1 }
        try await nodes.b.core.codeLooks.look(at: nodes.b.core.hasher.code(RegistrationCode(typed: code)))
        try await nodes.b.approve(code)
        #expect(try await held.status == 200)
      }
    }
  }

  @Test func `a box that asks another node to hold its question is held there`() async throws {
    let nodes = try await Nodes()
    try await nodes.withBoxes { atA, _ in
      let code = try await atA.code()
      try await TestTransport.socket.withClient(of: try nodes.b.router()) { client in
        let box = Box(service: nodes.b, client: client)
        async let held = box.get(question, headers: [("Prefer", "wait=55")])
        try await eventually("a held answer") { nodes.b.core.waiters.count == 1 }
        try await nodes.b.approve(code)
        #expect(try await held.status == 200)
      }
    }
  }

  @Test func `an end is not told from memory`() async throws {
    let nodes = try await Nodes()
    try await nodes.withBoxes { atA, atB in
      let first = try await atB.code()
      try await nodes.b.deny(first)
      #expect(try await atB.get(question).status == 403)
      // Another code at another node: what was said before is over.
      _ = try await atA.code()
      #expect(try await atB.get(question).status == 404)
    }
    try await nodes.withBoxes { atA, atB in
      let code = try await atA.code()
      #expect(try await atB.get("/reggie/v1/REF30/regcode/\(code)").status == 200)
      try await nodes.a.approve(code)
      // By its clock the code is over, and the yes came before.
      nodes.b.clock.pass(.seconds(1801))
      #expect(try await atB.get("/reggie/v1/REF30/regcode/\(code)")["state"] == "approved")
      #expect(try await atB.get(question).status == 200)
    }
  }

  @Test func `a sign-out at one node counts at the other at once`() async throws {
    let nodes = try await Nodes()
    try await nodes.withBoxes { atA, atB in
      try await atA.signIn()
      #expect(try await atB.get(question).status == 200)
      #expect(try await atB.send("DELETE", "/api/v1/logout").status == 204)
      #expect(try await atA.get(question).status == 404)
    }
  }

  @Test func `a box that is let in without a code is told where it waits`() async throws {
    let nodes = try await Nodes()
    try await TestTransport.socket.withClient(of: try nodes.a.router()) { client in
      let box = Box(service: nodes.a, client: client)
      _ = try await box.code()
      try await nodes.hearing {
        async let held = box.get(question, headers: [("Prefer", "wait=55")])
        try await eventually("a held answer") { nodes.a.core.waiters.count == 1 }
        try await nodes.withBoxes { _, atB in
          let preview = try await atB.preview(Sample.pass)
          #expect(preview.status == 204)
        }
        #expect(try await held.status == 200)
      }
    }
  }

  @Test func `what operators change counts at every node`() async throws {
    let nodes = try await Nodes()
    try await nodes.hearing {
      try await nodes.a.addKey("anotherPublicKey0000000000000000")
      try await eventually("node B knows the key") {
        nodes.b.core.provisioning.now.callKeys.count == nodes.a.core.provisioning.now.callKeys.count
      }
      _ = try await nodes.a.core.mediaKeys.rotate(audit: nil, at: nodes.a.core.clock.now)
      try await eventually("node B publishes the key") {
        nodes.b.core.mediaKeys.published(at: nodes.b.core.clock.now)
          == nodes.a.core.mediaKeys.published(at: nodes.a.core.clock.now)
      }
    }
  }

  @Test func `a signed call counts once at all nodes`() async throws {
    let nodes = try await Nodes()
    let path = "/api/v1/config/REF30"
    try await nodes.withBoxes { atA, atB in
      try await nodes.hearing {
        let header = try nodes.a.signature("GET", path)
        func send(_ box: Box) async throws -> UInt16 {
          try await box.client.send(TestRequest("GET", path, headers: [header])).status
        }
        #expect(try await send(atA) == 200)
        try await eventually("node B knows the nonce") { try await send(atB) == 401 }
        #expect(try await send(atA) == 401)
        // Those of calls that come now are taken.
        #expect(try await atB.get(path).status == 200)
      }
    }
  }

  @Test func `a node that hears nothing is not ready`() async throws {
    let nodes = try await Nodes()
    #expect(!nodes.b.core.nodeNews.isLate)
    nodes.b.clock.pass(.seconds(3))
    #expect(nodes.b.core.nodeNews.isLate)
    try await nodes.hearing {
      try await eventually("node B hears again") { !nodes.b.core.nodeNews.isLate }
    }
    let alone = try await TestService()
    alone.clock.pass(.seconds(3))
    #expect(!alone.core.nodeNews.isLate, "there is nobody to hear")
  }

  @Test func `one node forgets for all, and another when that one is gone`() async throws {
    let nodes = try await Nodes()
    try await nodes.withBoxes { atA, _ in
      _ = try await atA.code(["ttl": "60"])
      await Upkeep(nodes.a.core).once()
      nodes.a.clock.pass(.seconds(25))
      // Node A has the duty for half a minute.
      let store = nodes.a.core.store
      #expect(try await !store.take(.upkeep, as: named("b"), for: .seconds(30), at: nodes.b.core.clock.now))
      nodes.a.clock.pass(.seconds(3600))
      await Upkeep(nodes.b.core).once()
      #expect(try await store.registrations(after: nil, limit: 10, at: Instant(milliseconds: 0)).isEmpty)
      #expect(try await !store.take(.upkeep, as: named("a"), for: .seconds(30), at: nodes.a.core.clock.now))
    }
  }
}

@Suite struct `nonces that other nodes have used` {
  @Test func `when there is no room, old times are refused and nothing is forgotten`() throws {
    var nonces = NoncesElsewhere(capacity: 3)
    for number in 0..<3 { nonces.add(Int64(100 + number), UInt64(number)) }
    #expect(throws: SignatureRefusal.replayed) { try nonces.check(100, 0) }
    nonces.add(103, 9)
    #expect(throws: SignatureRefusal.outsideWindow) { try nonces.check(100, 0) }
    #expect(throws: SignatureRefusal.replayed) { try nonces.check(103, 9) }
    #expect(throws: Never.self) { try nonces.check(103, 1) }
    nonces.sweep(before: 104)
    #expect(nonces.isEmpty)
  }
}
