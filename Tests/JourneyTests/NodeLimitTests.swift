import HTTPServer
import HTTPTestSupport
import PairingStore
import RegentHTTPCodec
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Whether a node looks at no code from there.
private func isShut(to peer: Peer, at node: TestService) -> Bool {
  do throws(CallError) {
    try node.core.limits.mayTryCode(from: peer.address, as: .phone(nil))
    return false
  } catch {
    return true
  }
}

@Suite struct `limits that several nodes have together` {
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
      // Each look waits for news: two hundred of them are most of a minute.
      try await eventually("node B has heard of it", within: 1) {
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
}
