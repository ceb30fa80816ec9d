import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentHTTPCodec
import RegentPairing
import RegentPairingWire
import SQLite
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Enrolment of boxes` {
  private let stage: EnrolmentStage

  init() throws { stage = try EnrolmentStage() }

  @Test func `an enrolment code gives a box a working key pair, and the same pair when it asks again`() async throws {
    let service = try await TestService()
    try await stage.invite(service)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.send(stage.request(1))
      #expect(answer.status == 200, "\(answer.text)")
      let grant = try stage.grant(answer, 1)
      #expect(grant.requestor.text == Sample.requestor && grant.service == "https://tv.example.org")
      #expect(service.core.provisioning.now.callKeys[grant.publicKey] != nil)
      // Neither the key pair nor the code is sent in the clear.
      for secret in [grant.secret, grant.publicKey.text, stage.code.secret] { #expect(!answer.text.contains(secret)) }
      #expect(try stage.grant(try await client.send(stage.request(1)), 1) == grant)
      #expect(try await client.send(stage.request(2)).status == 403)
    }
  }

  @Test func `the service proves its address to a box with the secret of the box's key pair`() async throws {
    let service = try await TestService()
    try await stage.invite(service)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let grant = try stage.grant(try await client.send(stage.request(1)), 1)
      func ask(_ key: PublicKey, _ nonce: UInt8) async throws -> TestResponse {
        let asked = ServiceProofRequest(
          publicKey: key, nonce: [UInt8](repeating: nonce, count: ServiceProofRequest.length))
        return try await client.send(
          TestRequest("POST", Paths.boxService, headers: [("Content-Type", "application/json")], body: asked.bytes))
      }
      let answer = try await ask(grant.publicKey, 1)
      let proof = try #require(ServiceProof(answer.body), "\(answer.text)")
      #expect(proof.service == "https://tv.example.org")
      let key = try HMACKey(.sha256, Secret(grant.secret))
      for (nonce, address, isGood) in [
        (UInt8(1), proof.service, true), (2, proof.service, false), (1, "http://x", false),
      ] {
        let asked = ServiceProofRequest(
          publicKey: grant.publicKey, nonce: [UInt8](repeating: nonce, count: ServiceProofRequest.length))
        #expect(key.isValid(proof.proof, for: asked.message(address)) == isGood)
      }
      #expect(try await ask(try #require(PublicKey("unknown-key")), 1).status == 403)
      #expect(try await client.send(TestRequest("POST", Paths.boxService, body: Array("{}".utf8))).status == 400)
    }
  }

  @Test func `wrong, used, expired and unknown codes get the same response to the byte`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let unknown = try await client.send(stage.request(1))
      #expect(unknown.status == 403)
      try await stage.invite(service)
      #expect(try await client.send(stage.request(1, wrong: true)).text == unknown.text)
      #expect(try await client.send(stage.request(1, id: named("ZZZZ"))).text == unknown.text)
      #expect(try await client.send(stage.request(1)).status == 200)
      #expect(try await client.send(stage.request(2)).text == unknown.text)
      service.clock.pass(.seconds(3600))
      #expect(try await client.send(stage.request(1)).text == unknown.text)
      #expect(try await client.send(TestRequest("POST", Paths.enrol, body: Array("{}".utf8))).status == 400)
    }
  }

  @Test func `of 64 boxes that use one code at the same time, one gets a pair`() async throws {
    let service = try await TestService()
    try await stage.invite(service)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for box in UInt8(0)..<64 {
          group.addTask { Int(try await client.send(stage.request(box)).status) }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 403 } == 63, "\(statuses)")
    }
  }

  @Test func `an address that guesses is limited, while a right code from the same address works`() async throws {
    let service = try await TestService()
    try await stage.invite(service)
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      var statuses: [Int] = []
      for _ in 0..<8 { statuses.append(Int(try await client.send(stage.request(9, wrong: true)).status)) }
      #expect(statuses == [403, 403, 403, 403, 403, 429, 429, 429], "\(statuses)")
      #expect(try await client.send(stage.request(1)).status == 200)
    }
  }

  @Test func `a repeated enrolment request writes nothing and reads only the invitation`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await stage.invite(service)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let first = try stage.grant(try await client.send(stage.request(1)), 1)
        let before = store.statistics
        for _ in 0..<10 { #expect(try stage.grant(try await client.send(stage.request(1)), 1) == first) }
        #expect(store.statistics.requests == before.requests)
        #expect(store.statistics.reads - before.reads == 10)
        // A revoked pair is not returned again.
        try await store.setState(of: first.publicKey, to: .revoked, audit: nil, at: service.clock.now)
        try await service.core.refreshProvisioning()
        #expect(try await client.send(stage.request(1)).status == 403)
      }
    }
  }

  @Test func `a sealed answer for another box, or one sealed with another code, does not open`() async throws {
    let service = try await TestService()
    try await stage.invite(service, uses: 2)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let sealed = try #require(EnrolmentAnswer(try await client.send(stage.request(1)).body)).sealed
      #expect(throws: SealError.self) { try stage.key.open(sealed, answering: stage.message(2)) }
      let other = try #require(CodeKey(secret: Random.secret()))
      let forged = other.seal(Array("{}".utf8), answering: stage.message(1))
      #expect(throws: SealError.self) { try stage.key.open(forged, answering: stage.message(1)) }
    }
  }
}
