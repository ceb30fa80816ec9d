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

@Suite struct `enrolment of boxes` {
  private let code: EnrolmentCode
  private let key: CodeKey

  init() throws {
    code = try #require(EnrolmentCode(typed: "7k3m q0zd-4rxw 8ihp"))
    key = try #require(
      CodeKey(stretching: Secret(code.secret), salt: code.id.text, purpose: EnrolmentRequest.purpose))
  }

  private func invite(_ service: TestService, uses: Int = 1) async throws {
    let now = service.clock.now
    try await service.core.store.invite(
      EnrolmentRecord(
        id: code.id, requestor: try named(Sample.requestor), secret: StoredSecret(key.secret.exposedBytes()),
        uses: uses, created: now, expires: now + .seconds(3600)), audit: nil, at: now)
  }

  private func message(_ box: UInt8) -> [UInt8] {
    EnrolmentRequest.message(id: code.id, box: [UInt8](repeating: box, count: EnrolmentRequest.hashLength))
  }

  private func request(_ box: UInt8, id: EnrolmentID? = nil, wrong: Bool = false) -> TestRequest {
    let name = [UInt8](repeating: box, count: EnrolmentRequest.hashLength)
    var proof = key.proof(of: message(box))
    if wrong { proof[31] ^= 1 }
    let asked = EnrolmentRequest(id: id ?? code.id, box: name, proof: proof)
    return TestRequest("POST", Paths.enrol, headers: [("Content-Type", "application/json")], body: asked.bytes)
  }

  private func grant(_ answer: TestResponse, _ box: UInt8) throws -> EnrolmentGrant {
    let sealed = try #require(EnrolmentAnswer(answer.body)).sealed
    return try #require(EnrolmentGrant(try key.open(sealed, answering: message(box)).exposedBytes()))
  }

  @Test func `a code gives a box a pair that the service takes, and the same one again`() async throws {
    let service = try await TestService()
    try await invite(service)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let answer = try await client.send(request(1))
      #expect(answer.status == 200, "\(answer.text)")
      let grant = try grant(answer, 1)
      #expect(grant.requestor.text == Sample.requestor && grant.service == "https://tv.example.org")
      #expect(service.core.provisioning.now.callKeys[grant.publicKey] != nil)
      // Neither the pair nor the code is in what went over the wire.
      for secret in [grant.secret, grant.publicKey.text, code.secret] { #expect(!answer.text.contains(secret)) }
      #expect(try self.grant(try await client.send(request(1)), 1) == grant)
      #expect(try await client.send(request(2)).status == 403)
    }
  }

  @Test func `wrong, used, late, revoked and unknown are one answer to the letter`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let unknown = try await client.send(request(1))
      #expect(unknown.status == 403)
      try await invite(service)
      #expect(try await client.send(request(1, wrong: true)).text == unknown.text)
      #expect(try await client.send(request(1, id: named("ZZZZ"))).text == unknown.text)
      #expect(try await client.send(request(1)).status == 200)
      #expect(try await client.send(request(2)).text == unknown.text)
      service.clock.pass(.seconds(3600))
      #expect(try await client.send(request(1)).text == unknown.text)
      #expect(try await client.send(TestRequest("POST", Paths.enrol, body: Array("{}".utf8))).status == 400)
    }
  }

  @Test func `of 64 boxes at once one gets a pair`() async throws {
    let service = try await TestService()
    try await invite(service)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for box in UInt8(0)..<64 {
          group.addTask { Int(try await client.send(request(box)).status) }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 403 } == 63, "\(statuses)")
    }
  }

  @Test func `who guesses is turned away, and keeps no honest box of his address out`() async throws {
    let service = try await TestService()
    try await invite(service)
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      var statuses: [Int] = []
      for _ in 0..<8 { statuses.append(Int(try await client.send(request(9, wrong: true)).status)) }
      #expect(statuses == [403, 403, 403, 403, 403, 429, 429, 429], "\(statuses)")
      #expect(try await client.send(request(1)).status == 200)
    }
  }

  @Test func `who sends a box's request again and again costs no write and reads an invitation alone`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await invite(service)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let first = try grant(try await client.send(request(1)), 1)
        let before = store.statistics
        for _ in 0..<10 { #expect(try grant(try await client.send(request(1)), 1) == first) }
        #expect(store.statistics.requests == before.requests)
        #expect(store.statistics.reads - before.reads == 10)
        // A pair that was revoked is not given again.
        try await store.setState(of: first.publicKey, to: .revoked, audit: nil, at: service.clock.now)
        try await service.core.provisioning.refresh()
        #expect(try await client.send(request(1)).status == 403)
      }
    }
  }

  @Test func `an answer for another box, another code or by somebody else does not open`() async throws {
    let service = try await TestService()
    try await invite(service, uses: 2)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let sealed = try #require(EnrolmentAnswer(try await client.send(request(1)).body)).sealed
      #expect(throws: SealError.self) { try key.open(sealed, answering: message(2)) }
      let other = try #require(CodeKey(secret: Random.secret()))
      let forged = other.seal(Array("{}".utf8), answering: message(1))
      #expect(throws: SealError.self) { try key.open(forged, answering: message(1)) }
    }
  }
}
