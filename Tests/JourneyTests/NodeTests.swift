import HTTPTestSupport
import PairingStore
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

private let question = "/api/v1/tokens/authn"

@Suite struct `Several nodes on one store` {
  @Test(arguments: Ground.allCases)
  func `a code that one node made is known at the other, whether the box or a phone asks`(ground: Ground) async throws {
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
  func `an approval at one node reaches the box at the other`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, atB in
        let code = try await atA.code()
        try await withPhone(nodes.b) { client in
          var phone = PhoneBrowser(client)
          try await phone.reachApproval(code)
          try await phone.send("approve")
        }
        // Node A has received no change. It reads the store before it says more than "pending".
        #expect(try await atB.get(question).status == 200)
        #expect(
          try await atA.get("/reggie/v1/REF30/regcode/\(code)")["state"] == "offered", "memory may report pending")
        try await nodes.hearing {
          try await eventually("node A learns of the delivery") {
            try await atA.get("/reggie/v1/REF30/regcode/\(code)")["state"] == "delivered"
          }
        }
        #expect(try await atA.get(question).status == 200)
      }
    }
  }

  /// A load balancer does not pin phones to nodes, so a node may not yet know the last step of the phone.
  @Test(arguments: Ground.allCases)
  func `a phone pairs a box although its requests alternate between the nodes`(ground: Ground) async throws {
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
  func `a page shows what another node did to its code`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await withPhone(nodes.b) { client in
        try await nodes.withBoxes { atA, _ in
          let code = try await atA.code()
          var phone = PhoneBrowser(client)
          try await phone.reachApproval(code)
          _ = try await nodes.a.core.codeTransitions.withdraw(nodes.a.found(code), .operator, audit: nil)
          // Node B has not yet received the change.
          try await phone.open("/D/\(code)/approve")
          let forms = PageForm.all(in: phone.page.text)
          #expect(forms.allSatisfy { !$0.action.hasSuffix("approve") }, "\(phone.page.text)")
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `an approval at one node completes the long poll at the other`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await TestTransport.socket.withClient(of: try nodes.a.router()) { client in
        let box = Box(service: nodes.a, client: client)
        let code = try await box.code()
        try await nodes.hearing {
          async let held = box.get(question, headers: [("Prefer", "wait=55")])
          try await eventually("the long poll is parked") { nodes.a.core.waiters.count == 1 }
          try await nodes.b.approve(code)
          #expect(try await held.status == 200)
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a box can park a long poll at a node that did not make its code`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, _ in
        let code = try await atA.code()
        try await TestTransport.socket.withClient(of: try nodes.b.router()) { client in
          let box = Box(service: nodes.b, client: client)
          async let held = box.get(question, headers: [("Prefer", "wait=55")])
          try await eventually("the long poll is parked") { nodes.b.core.waiters.count == 1 }
          try await nodes.b.approve(code)
          #expect(try await held.status == 200)
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a node reads from the store, not from its memory, how a code has ended`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await nodes.withBoxes { atA, atB in
        let first = try await atB.code()
        try await nodes.b.deny(first)
        #expect(try await atB.get(question).status == 403)
        // After a new code at another node the first code no longer counts.
        _ = try await atA.code()
        #expect(try await atB.get(question).status == 404)
      }
      try await nodes.withBoxes { atA, atB in
        let code = try await atA.code()
        #expect(try await atB.get("/reggie/v1/REF30/regcode/\(code)").status == 200)
        try await nodes.a.approve(code)
        // By the clock of node B the code has expired, but it was approved before.
        nodes.pass(.seconds(1801), at: nodes.b)
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
  func `a sign-in without a code completes the long poll at the other node`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      try await TestTransport.socket.withClient(of: try nodes.a.router()) { client in
        let box = Box(service: nodes.a, client: client)
        _ = try await box.code()
        try await nodes.hearing {
          async let held = box.get(question, headers: [("Prefer", "wait=55")])
          try await eventually("the long poll is parked") { nodes.a.core.waiters.count == 1 }
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
  func `after missed changes a node completes the long polls that ended meanwhile and no others`(
    ground: Ground
  ) async throws {
    try await withNodes(on: ground) { nodes in
      try await TestTransport.socket.withClient(of: try nodes.a.router()) { client in
        let box = Box(service: nodes.a, client: client)
        var other = box
        other.device = "box-that-waits"
        for box in [box, other] { _ = try await box.code() }
        let waiting = Task { [other] in try await other.get(question, headers: [("Prefer", "wait=55")]) }
        async let held = box.get(question, headers: [("Prefer", "wait=55")])
        try await eventually("both long polls are parked") { nodes.a.core.waiters.count == 2 }
        try await nodes.withBoxes { _, atB in
          let preview = try await atB.preview(Sample.pass)
          #expect(preview.status == 204)
        }
        _ = try await NodeFollower(nodes.a.core).step(from: nil)
        try await eventually("the long poll of the signed-in box is completed") { nodes.a.core.waiters.count == 1 }
        #expect(try await held.status == 200)
        #expect(nodes.a.core.waiters.count == 1)
        nodes.a.core.waiters.stop()
        #expect(try await waiting.value.status == 404)
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `changes by operators apply at every node`(ground: Ground) async throws {
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
  func `an expired code is counted once, however many nodes know it`(ground: Ground) async throws {
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
  func `a node that received no changes for five minutes reads everything again`(ground: Ground) async throws {
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
        try await eventually("the earlier approval is read, too") {
          try nodes.b.core.codes.find(nodes.b.found(code))?.flow.state.status == .approved
        }
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a signed call is accepted once at all nodes together`(ground: Ground) async throws {
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
        // The test waits for the change, because a second call at node B itself would be refused anyway.
        try await eventually("node B learns of the nonce") { try await follower.step(from: before) != before }
        #expect(try await send(atB) == 401)
        #expect(try await send(atA) == 401)
        // New nonces are accepted.
        #expect(try await atB.get(path).status == 200)
      }
    }
  }

  @Test(arguments: Ground.allCases)
  func `a new node refuses a header that was used before the node started`(ground: Ground) async throws {
    try await withNodes(on: ground) { nodes in
      let path = "/api/v1/config/REF30"
      let request = TestRequest("GET", path, headers: [try nodes.a.signature("GET", path)])
      let follower = NodeFollower(nodes.b.core)
      let before = try await follower.step(from: follower.step(from: nil))
      let first = try await TestTransport.inProcess.withClient(of: try nodes.a.router()) { try await $0.send(request) }
      #expect(first.status == 200)
      // Node A writes its nonces in batches, a moment after the call.
      try await eventually("node A has stored the nonce") { try await follower.step(from: before) != before }
      let again = try await TestService(joining: nodes.a, on: nodes.b.core.store, as: "c")
      _ = try await NodeFollower(again.core).catchUp()
      let second = try await TestTransport.inProcess.withClient(of: try again.router()) { try await $0.send(request) }
      #expect(second.status == 401)
    }
  }

  @Test(arguments: Ground.allCases)
  func `a node that receives no changes is not ready and refuses requests that depend on changes at other nodes`(
    ground: Ground
  ) async throws {
    try await withNodes(on: ground) { nodes in
      #expect(!nodes.b.core.nodeNews.isLate)
      nodes.b.clock.pass(.seconds(3))
      #expect(nodes.b.core.nodeNews.isLate)
      try await nodes.hearing {
        try await eventually("node B receives changes again") { !nodes.b.core.nodeNews.isLate }
      }
      try await nodes.withBoxes { atA, atB in
        _ = try await atA.code()
        var stranger = atB
        stranger.device = "a box that node B does not know"
        // At the second poll the node knows that the box has no earlier sign-in.
        for box in [atB, atB, stranger] { #expect(try await box.get(question).status == 404) }
        nodes.b.clock.pass(.seconds(3))
        #expect(try await atB.get(question).status == 404, "memory may only report that the code is pending")
        let refused = try await stranger.get(question)
        #expect(refused.status == 503 && refused.response.header("retry-after") != nil)
        let title = try await atB.get("/api/v1/authorize", ["resource": "One"])
        #expect(title.status == 503, "\(title.status) \(title.text)")
      }
      let alone = try await TestService()
      alone.clock.pass(.seconds(3))
      #expect(!alone.core.nodeNews.isLate, "a single node has no changes to wait for")
    }
  }

  @Test(arguments: Ground.allCases)
  func `the numbers of the day are the sums over all nodes`(ground: Ground) async throws {
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
      // A restarted node continues with its own numbers.
      let again = try await TestService(restarting: nodes.b, on: nodes.b.core.store)
      #expect(again.core.metrics.today(at: now)[.codesStarted] == 2)
    }
  }

  @Test func `one node has the upkeep duty, and another takes it over when that node is gone`() async throws {
    try await withNodes(on: .memory) { nodes in
      try await nodes.withBoxes { atA, _ in
        _ = try await atA.code(["ttl": "60"])
        await Upkeep(nodes.a.core).once()
        nodes.a.clock.pass(.seconds(25))
        // Node A holds the duty for half a minute.
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

@Suite struct `Nonces that other nodes have used` {
  @Test func `without room for more nonces, old times are refused and no nonce is forgotten`() throws {
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
  @Test func `nonces outside the accepted time window take no room`() throws {
    let now = Instant(milliseconds: 1_700_000_000_000)
    let nonces = UsedNonces(startingAt: now, keptAs: [], capacity: 3)
    let key: PublicKey = try named("key")
    func note(_ ahead: Int64) {
      nonces.note((1...4).map { UsedNonce(key: key, second: now.second + ahead + $0, mark: 1) }, at: now)
    }
    let look = { () throws(SignatureRefusal) in
      _ = try nonces.check("a".utf8.span, of: key, signedAt: now, from: 1, at: now)
    }
    note(1_000)
    #expect(throws: Never.self) { try look() }
    note(0)
    #expect(throws: SignatureRefusal.outsideWindow) { try look() }
  }
}
