import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentJSON
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

/// The key of a box's sign-in, and the decisions that it signs.
@Suite struct `The key of a box` {
  @Test func `a sign-in of a box has one key, and pairing again makes another key valid`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let (first, other) = (stage.key, try SigningKey.generate(.edDSA))
      #expect(try await stage.enrol(other).status == 403)
      let again = try await stage.enrol(first)
      #expect(again.status == 200)
      #expect(try again.json().string("box") == stage.box)
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      stage.key = other
      try await stage.signInBox()
      #expect(try await stage.verdict(try stage.word(try await stage.request())) == "204")
      #expect(try await stage.enrol(first).status == 403)
    }
  }

  @Test func `a decision that the key of the box did not sign is refused, and so is a changed one`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let other = try SigningKey.generate(.edDSA)
      let good = try stage.decision("granted")
      let parts = good.split(separator: ".").map(String.init)
      let changed = try stage.decision("granted", app: "video").split(separator: ".").map(String.init)
      // The first eight are not signed by the key of the box for this call, the last two are.
      let refused = [
        try stage.decision("granted", key: other), try stage.decision("granted", box: "signing-other"),
        try stage.decision("granted", type: PlatformAssertion.type), try stage.decision("granted", id: ""),
        [parts[0], changed[1], parts[2]].joined(separator: "."), [parts[0], parts[1], ""].joined(separator: "."),
        try stage.word(try await stage.request()), "x",
        try stage.decision("granted", issued: stage.service.core.clock.now - .milliseconds(60_001)),
        try stage.decision("granted", issued: stage.service.core.clock.now + .milliseconds(60_001)),
      ]
      for (number, text) in refused.enumerated() {
        #expect(try await stage.send(text).status == 403, "\(number)")
      }
      #expect(try await stage.plainDecision("granted").status == 403)
      #expect(try await stage.plainDecision("asked").status == 403)
      #expect(try await stage.storedDecisions() == [:])
      #expect(try await stage.send(good).status == 204)
      #expect(try await stage.storedDecisions() == ["kodi": true])
    }
  }

  @Test func `a signed decision counts once, also after the clock was set back`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let grant = try stage.decision("granted")
      #expect(try await stage.send(grant).status == 204)
      #expect(try await stage.decide("denied") == 204)
      stage.service.clock.pass(.seconds(1))
      // The box may repeat a call whose response was lost, so the reply is the same.
      #expect(try await stage.send(grant).status == 204)
      #expect(try await stage.storedDecisions() == ["kodi": false])
      stage.service.clock.pass(.seconds(120))
      _ = try await stage.service.core.store.forgetExpired(at: stage.service.core.clock.now, limit: 100)
      stage.service.clock.pass(.seconds(-121))
      #expect(try await stage.send(grant).status == 204)
      #expect(try await stage.storedDecisions() == ["kodi": false])
    }
  }

  @Test func `a box of version 0 1 0 decides without a signature until it signs in with a newer version`() async throws
  {
    try await withStage { (stage: inout PlatformStage) async throws in
      stage.signs = false
      try await stage.signInBox()
      #expect(try await stage.plainDecision("granted").status == 204)
      #expect(try await stage.storedDecisions() == ["kodi": true])
      // The updated program registers the same key again, and signs from then on.
      stage.signs = true
      #expect(try await stage.enrol(stage.key).json().string("box") == stage.box)
      #expect(try await stage.decide("denied") == 204)
      #expect(try await stage.storedDecisions() == ["kodi": false])
      try await stage.signInBox()
      #expect(try await stage.plainDecision("granted").status == 403)
      #expect(try await stage.decide("granted") == 204)
    }
  }

  @Test func `a sign-in without a key decides nothing`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      #expect(try await stage.asBox("DELETE", "/api/v1/logout").status == 204)
      try await stage.approveBox()
      #expect(try await stage.plainDecision("granted").status == 403)
      #expect(try await stage.send(try stage.decision("granted")).status == 403)
      #expect(try await stage.storedDecisions() == [:])
    }
  }

  @Test func `refused keys and decisions do not use up the rate limit of the box`() async throws {
    try await withStage { (stage: inout PlatformStage) async throws in
      let other = try SigningKey.generate(.edDSA)
      for _ in 0..<110 {
        #expect(try await stage.enrol(other).status == 403)
        #expect(try await stage.plainDecision("granted").status == 403)
        #expect(try await stage.send(try stage.decision("granted", key: other)).status == 403)
        stage.service.clock.pass(.milliseconds(150))
      }
      // Without this pause, the limit of all calls of a device would refuse some.
      stage.service.clock.pass(.seconds(20))
      var statuses: [UInt16: Int] = [:]
      for _ in 0..<100 { statuses[try await stage.decide("denied"), default: 0] += 1 }
      #expect(statuses == [204: 100])
    }
  }

  private func withStage(_ body: (inout PlatformStage) async throws -> Void) async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      var stage = try await PlatformStage(client, service)
      try await body(&stage)
    }
  }
}

extension PlatformStage {
  /// The decisions that the service stores for the box, by app.
  fileprivate func storedDecisions() async throws -> [String: Bool] {
    let device = service.core.hasher.device(try named("the-box"))
    let records = try await service.core.store.decisions(of: device)
    return Dictionary(uniqueKeysWithValues: records.compactMap { record in record.isGranted.map { (record.app, $0) } })
  }
}
