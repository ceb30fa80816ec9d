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

/// Whether the node refuses to look up codes from this address.
private func isShut(to peer: Peer, at node: TestService) -> Bool {
  do throws(CallError) {
    try node.core.limits.mayTryCode(from: peer.address, as: .phone(nil))
    return false
  } catch {
    return true
  }
}

/// One wrong code for each browser, and twelve for each address.
private func fewTries(_ options: inout ServiceOptions) {
  options.limits.wrongCodes = FailureLimit(count: 1, span: .seconds(600))
}

@Suite struct `Limits that nodes share` {
  @Test(arguments: Ground.allCases)
  func `the share of a requestor counts its codes at all nodes, also after a node restarts`(ground: Ground) async throws
  {
    try await withNodes(on: ground, options: { $0.limits.liveCodes = 4 }) { nodes in
      try await nodes.a.change(.requestor(Requestor(id: named("OTHER"), name: "Other")))
      try await nodes.hearing {
        try await eventually("node B knows both requestors") {
          nodes.b.core.provisioning.now.records.requestors.count == 2
        }
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
  func `an attacker who guesses codes at all nodes in turn has the attempts of one node`(ground: Ground) async throws {
    try await withNodes(on: ground, options: fewTries) { nodes in
      let peer = Peer.network(IPAddress(ipv4: 0xCB00_7101), port: 1)
      let clients = [
        InProcessClient(try await nodes.a.phoneRouter(), peer: peer),
        InProcessClient(try await nodes.b.phoneRouter(), peer: peer),
      ]
      try await nodes.hearing {
        for number in 0..<12 {
          var phone = PhoneBrowser(InTurn(clients))
          try await phone.open("/")
          let guess = try #require(RegistrationCode(ordinal: UInt64(number)))
          try await phone.send("/code", ["code": guess.wire])
          #expect(phone.page.status == 422)
        }
        try await eventually("both nodes know all wrong codes") {
          isShut(to: peer, at: nodes.a) && isShut(to: peer, at: nodes.b)
        }
      }
      let wrong = [nodes.a, nodes.b].map { $0.core.metrics.now[.wrongCodes] }
      #expect(wrong.reduce(0, +) == 12, "each guess is counted by the node that received it: \(wrong)")
    }
  }

  /// The store read for each code takes time.
  ///
  /// Concurrent guesses must not all pass while the first ones are pending.
  @Test(arguments: Ground.allCases)
  func `an attacker who guesses many codes at once has the attempts of one who guesses in turn`(ground: Ground)
    async throws
  {
    try await withNodes(on: ground, options: fewTries) { nodes in
      let peer = Peer.network(IPAddress(ipv4: 0xCB00_7101), port: 1)
      let client = InProcessClient(try await nodes.a.phoneRouter(), peer: peer)
      var phones: [PhoneBrowser] = []
      for _ in 0..<60 {
        var phone = PhoneBrowser(client)
        try await phone.open("/")
        phones.append(phone)
      }
      let statuses = try await withThrowingTaskGroup(of: UInt16.self) { group in
        for (number, phone) in phones.enumerated() {
          let guess = try #require(RegistrationCode(ordinal: UInt64(number)))
          group.addTask {
            var phone = phone
            try await phone.send("/code", ["code": guess.wire])
            return phone.page.status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let tried = statuses.count { $0 == 422 }
      // Threads that pass the same check at the same moment may each let one more guess through.
      #expect((12...22).contains(tried), "\(tried) guesses were looked up")
      #expect(statuses.count { $0 == 429 } == 60 - tried)
    }
  }

  @Test(arguments: Ground.allCases)
  func `a restarted node knows the wrong codes that other nodes counted`(ground: Ground) async throws {
    try await withNodes(on: ground, options: fewTries) { nodes in
      let peer = Peer.network(IPAddress(ipv4: 0xCB00_7101), port: 1)
      for _ in 0..<12 { nodes.a.core.limits.wrongCode(from: peer.address, as: .phone(nil)) }
      let follower = NodeFollower(nodes.b.core)
      let start = try await follower.step(from: nil)
      // Each step waits for changes, and two hundred steps would take most of a minute.
      try await eventually("node B knows the wrong codes", within: 1) {
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

  /// Runs a test body with the limits of two nodes that know of each other.
  private func withPair(
    options: @Sendable (inout ServiceOptions) -> Void = { _ in }, _ story: (RequestLimits, RequestLimits) throws -> Void
  ) async throws {
    try await withNodes(on: .server, options: options) { nodes in
      try await nodes.hearing {
        let (a, b) = (nodes.a.core.limits, nodes.b.core.limits)
        try await eventually("each node knows of the other") {
          [a, b].allSatisfy { $0.state.withLock { $0.nodes } == 2 }
        }
        try story(a, b)
      }
    }
  }

  @Test func `nodes that serve together share one limit for new guests`() async throws {
    try await withPair { a, _ in
      let address = IPAddress(ipv4: 0xCB00_7101)
      let requestor: RequestorID = try named(Sample.requestor)
      for _ in 0..<250 { try a.take(.guest, from: address, at: requestor) }
      #expect(throws: CallError.self) { try a.take(.guest, from: address, at: requestor) }
    }
  }

  /// How many of `count` calls pass when they go to two nodes in turn.
  private func passed(_ count: Int, _ take: (_ place: Int) throws -> Void) -> Int {
    (0..<count).reduce(0) { passed, place in
      do {
        try take(place % 2)
        return passed + 1
      } catch {
        return passed
      }
    }
  }

  @Test func `a device has one limit at all nodes for calls, long polls and replaced codes`() async throws {
    try await withPair(options: { $0.limits.source = RateLimit(perSecond: 1, burst: 30) }) { a, b in
      let (both, requestor): ([RequestLimits], RequestorID) = ([a, b], try named(Sample.requestor))
      let device = DeviceHash(Array(repeating: 7, count: 32))
      let (box, address) = (try #require(device), IPAddress(ipv4: 0xCB00_7101))
      #expect(passed(300) { try both[$0].take(box, at: requestor) } == 100)
      #expect(passed(900) { try both[$0].takeWait(.device(box), at: requestor) } == 400)
      #expect(passed(90) { try both[$0].takeReplacement(of: box, at: requestor) } == 30)
      #expect(passed(300) { try both[$0].takeDecision(of: box, at: requestor) } == 100)
      #expect(passed(90) { try both[$0].take(address) } == 30)
    }
  }

  @Test func `the share of each of many nodes is large enough for an app that starts`() {
    #expect(RateLimit.device.divided(among: 3, least: 20) == RateLimit(oneEvery: .milliseconds(150), burst: 33))
    #expect(RateLimit.device.divided(among: 50, least: 20).burst == 20)
    #expect(RateLimit(perSecond: 1, burst: 4).divided(among: 9, least: 20).burst == 4)
  }
}
