// This file is long because its tests are one suite, on memory and on a server, over the cluster that it makes.

import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import PostgreSQLStoreTestSupport
import RegentHTTPCodec
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Two nodes of one service on one store.
private struct Nodes: Sendable {
  let a: TestService
  let b: TestService

  init(on store: any Store, _ other: any Store, _ options: (inout ServiceOptions) -> Void) async throws {
    a = try await TestService(
      on: store,
      options: {
        $0.node = NodeID("a")
        options(&$0)
      })
    b = try await TestService(joining: a, on: other, as: "b")
  }

  /// Runs a story in which each node hears of what the other one writes.
  func hearing(_ story: () async throws -> Void) async throws {
    var following: [Task<Void, Never>] = []
    for node in [a, b] {
      let follower = NodeFollower(node.core)
      // The first look is at everything: what the story is about must be heard.
      let position = try await follower.step(from: nil)
      following.append(Task { await follower.run(from: position) })
    }
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

/// Each request goes to the next of several.
private final class InTurn: TestClient {
  private let clients: [any TestClient]
  private let turn = Locked(0)

  init(_ clients: [any TestClient]) { self.clients = clients }

  func send(_ request: TestRequest) async throws -> TestResponse {
    let place = turn.withLock { turn in
      turn += 1
      return turn
    }
    return try await clients[place % clients.count].send(request)
  }
}

/// What the nodes share.
enum Ground: CaseIterable {
  case memory
  /// Each has a handle of its own.
  case server
}

private func withNodes(
  on ground: Ground, options: @Sendable (inout ServiceOptions) -> Void = { _ in },
  _ story: (Nodes) async throws -> Void
) async throws {
  switch ground {
  case .memory:
    let store = MemoryStore(isShared: true)
    try await story(try await Nodes(on: store, store, options))
  case .server:
    try await withDatabaseStores(2) { stores in
      try await story(try await Nodes(on: stores[0], stores[1], options))
    }
  }
}

/// Whether a node looks at no code from there.
private func isShut(to peer: Peer, at node: TestService) -> Bool {
  do throws(CallError) {
    try node.core.limits.mayTryCode(from: peer.address, as: .phone(nil))
    return false
  } catch {
    return true
  }
}

private let question = "/api/v1/tokens/authn"

@Suite struct `several nodes on one store` {
  @Test(arguments: Ground.allCases)
  func `a code of one node is known at the other, whoever asks`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
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
  }

  @Test(arguments: Ground.allCases)
  func `the phone is at one node and the box at the other`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
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
  }

  /// A load balancer knows no phones: nobody has told the node what was done to the code a moment ago.
  @Test(arguments: Ground.allCases)
  func `each page of the phone is another node's`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await withPhone(nodes.a) { one in
        try await withPhone(nodes.b) { other in
          try await nodes.withBoxes { atA, atB in
            for (first, box) in [([one, other], atA), ([other, one], atB)] {
              var box = box
              box.device = "box-\(UInt32.random(in: 0 ... .max))"
              let code = try await box.code()
              var phone = PhoneBrowser(InTurn(first))
              try await phone.reachApproval(code)
              #expect(phone.page.status == 200 && phone.address.hasSuffix("/approve"), "\(phone.address)")
              try await phone.send("approve")
              #expect(phone.page.status == 200 && phone.address.hasSuffix("/result"), "\(phone.address)")
              #expect(try await box.get(question).status == 200)
            }
          }
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a page shows what was done to its code at the other node`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await withPhone(nodes.b) { client in
        try await nodes.withBoxes { atA, _ in
          let code = try await atA.code()
          var phone = PhoneBrowser(client)
          try await phone.reachApproval(code)
          _ = try await nodes.a.core.codeTransitions.withdraw(nodes.a.found(code), .operator, audit: nil)
          // Node B has not heard of it.
          try await phone.open("/D/\(code)/approve")
          let forms = PageForm.all(in: phone.page.text)
          #expect(forms.allSatisfy { !$0.action.hasSuffix("approve") }, "\(phone.page.text)")
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a held answer comes from the other node`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await TestTransport.socket.withClient(of: try nodes.a.router()) { client in
        let box = Box(service: nodes.a, client: client)
        let code = try await box.code()
        try await nodes.hearing {
          async let held = box.get(question, headers: [("Prefer", "wait=55")])
          try await eventually("a held answer") { nodes.a.core.waiters.count == 1 }
          try await nodes.b.approve(code)
          #expect(try await held.status == 200)
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a box that asks another node to hold its question is held there`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
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
  }

  @Test(arguments: Ground.allCases)
  func `an end is not told from memory`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
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
  }

  @Test(arguments: Ground.allCases)
  func `a sign-out at one node counts at the other at once`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, atB in
        try await atA.signIn()
        #expect(try await atB.get(question).status == 200)
        #expect(try await atB.send("DELETE", "/api/v1/logout").status == 204)
        #expect(try await atA.get(question).status == 404)
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a box that is let in without a code is told where it waits`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
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
  }

  @Test(arguments: Ground.allCases)
  func `what operators change counts at every node`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
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
  }

  @Test(arguments: Ground.allCases)
  func `what a requestor has at all nodes is its share, also when a node begins anew`(ground: Ground) async throws {
    try await withNodes(on: ground, options: { $0.limits.liveCodes = 4 }) { nodes in
      try await nodes.a.change(.requestor(Requestor(id: named("OTHER"), name: "Other")))
      try await nodes.hearing {
        try await eventually("node B knows both") { nodes.b.core.provisioning.now.records.requestors.count == 2 }
      }
      func ask(_ box: Box, _ device: Int, gives status: UInt16) async throws {
        var box = box
        box.device = "box-\(device)"
        let reply = try await box.send("POST", "/reggie/v1/REF30/regcode")
        #expect(reply.status == status)
      }
      try await nodes.withBoxes { atA, atB in
        for device in 1...4 { try await ask(device % 2 == 0 ? atA : atB, device, gives: 201) }
        try await ask(atA, 5, gives: 503)
        try await ask(atB, 6, gives: 503)
      }
      let again = try await TestService(restarting: nodes.b, on: nodes.b.core.store)
      try await TestTransport.inProcess.withClient(of: try again.router()) { client in
        try await ask(Box(service: again, client: client), 7, gives: 503)
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a code that runs out is counted once, however many nodes know it`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, atB in
        let code = try await atA.code(["ttl": "60"])
        #expect(try await atB.get("/reggie/v1/REF30/regcode/\(code)").status == 200)
        nodes.a.clock.pass(.seconds(120))
        for node in [nodes.a, nodes.b] { await Upkeep(node.core).once() }
        let expired = [nodes.a, nodes.b].map { $0.core.metrics.now[.codesExpired] }
        #expect(expired == [1, 0])
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a node that heard nothing for five minutes looks at everything`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, atB in
        let code = try await atA.code()
        #expect(try await atB.get("/reggie/v1/REF30/regcode/\(code)").status == 200)
        try await nodes.a.approve(code)
        let end = try await nodes.b.core.store.endOfChanges()
        nodes.b.clock.pass(.seconds(301))
        #expect(nodes.b.core.nodeNews.isLost)
        let following = Task { await NodeFollower(nodes.b.core).run(from: end) }
        defer { following.cancel() }
        try await eventually("what was before is looked at, too") {
          try nodes.b.core.codes.find(nodes.b.found(code))?.flow.state.status == .approved
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `who guesses at all nodes in turn has the tries of one`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      let peer = Peer.network(IPAddress(ipv4: 0xCB00_7101), port: 1)
      let clients = [
        InProcessClient(try await nodes.a.phoneRouter(), peer: peer),
        InProcessClient(try await nodes.b.phoneRouter(), peer: peer),
      ]
      try await nodes.hearing {
        var phone = PhoneBrowser(InTurn(clients))
        for number in 0..<5 {
          try await phone.open("/")
          let guess = try #require(RegistrationCode(ordinal: UInt64(number)))
          try await phone.send("/code", ["code": guess.wire])
          #expect(phone.page.status == 422)
        }
        try await eventually("both nodes have heard of all") {
          isShut(to: peer, at: nodes.a) && isShut(to: peer, at: nodes.b)
        }
      }
      let wrong = [nodes.a, nodes.b].map { $0.core.metrics.now[.wrongCodes] }
      #expect(wrong.reduce(0, +) == 5, "each is counted where it was made: \(wrong)")
    }
  }

  @Test(arguments: Ground.allCases)
  func `a node that begins anew knows who guessed at others`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      let peer = Peer.network(IPAddress(ipv4: 0xCB00_7101), port: 1)
      for _ in 0..<5 { nodes.a.core.limits.wrongCode(from: peer.address, as: .phone(nil)) }
      let follower = NodeFollower(nodes.b.core)
      let start = try await follower.step(from: nil)
      try await eventually("node B has heard of it") {
        _ = try await follower.step(from: start)
        return isShut(to: peer, at: nodes.b)
      }
      let again = try await TestService(joining: nodes.a, on: nodes.b.core.store, as: "b")
      #expect(!isShut(to: peer, at: again))
      let anew = NodeFollower(again.core)
      _ = try await anew.step(from: anew.step(from: nil))
      #expect(isShut(to: peer, at: again))
    }
  }

  @Test func `nodes that serve together have one limit for what is new`() async throws {
    try await withNodes(on: .server) { nodes in
      try await nodes.hearing {
        try await eventually("each knows of the other") {
          [nodes.a, nodes.b].allSatisfy { $0.core.limits.state.withLock { $0.nodes } == 2 }
        }
        let address = IPAddress(ipv4: 0xCB00_7101)
        let requestor: RequestorID = try named(Sample.requestor)
        for _ in 0..<50 { try nodes.a.core.limits.take(.guest, from: address, at: requestor) }
        #expect(throws: CallError.self) { try nodes.a.core.limits.take(.guest, from: address, at: requestor) }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a signed call counts once at all nodes`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      let path = "/api/v1/config/REF30"
      try await nodes.withBoxes { atA, atB in
        let header = try nodes.a.signature("GET", path)
        func send(_ box: Box) async throws -> UInt16 {
          try await box.client.send(TestRequest("GET", path, headers: [header])).status
        }
        let follower = NodeFollower(nodes.b.core)
        let before = try await follower.step(from: follower.step(from: nil))
        #expect(try await send(atA) == 200)
        // Heard, and not tried: a second try at node B itself would be refused anyway.
        try await eventually("node B hears of the nonce") { try await follower.step(from: before) != before }
        #expect(try await send(atB) == 401)
        #expect(try await send(atA) == 401)
        // Those of calls that come now are taken.
        #expect(try await atB.get(path).status == 200)
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a node that hears nothing is not ready`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
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
  }

  @Test(arguments: Ground.allCases)
  func `the numbers of the day are those of all nodes`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, atB in
        for (number, box) in [atA, atB, atB].enumerated() {
          var box = box
          box.device = "box-\(number)"
          _ = try await box.code()
        }
      }
      for node in [nodes.a, nodes.b] { await Upkeep(node.core).keepEverything() }
      let now = nodes.a.core.clock.now
      var numbers = nodes.a.core.metrics.today(at: now)
      let others = try await nodes.a.core.store.keptNumbersOfNodes(.day)
      #expect(others.keys.map(\.text).sorted() == ["a", "b"])
      let text = try #require(others[named("b")])
      numbers.add(try #require(DayNumbers(keptAs: text, at: now)))
      #expect(numbers[.codesStarted] == 3 && numbers.hours.map(\.started).reduce(0, +) == 3)
      // Each goes on from its own.
      let again = try await TestService(restarting: nodes.b, on: nodes.b.core.store)
      #expect(again.core.metrics.today(at: now)[.codesStarted] == 2)
    }
  }

  @Test func `one node forgets for all, and another when that one is gone`() async throws {
    try await withNodes(on: .memory) { nodes in
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
