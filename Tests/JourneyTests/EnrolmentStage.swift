import HTTPTestSupport
import PairingService
import PairingStore
import RegentCryptography
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import Testing

/// An invitation, and the requests of boxes that have its code.
struct EnrolmentStage {
  let code: EnrolmentCode
  let key: CodeKey

  init() throws {
    code = try #require(EnrolmentCode(typed: "7k3m q0zd-4rxw 8ihp"))
    key = try #require(
      CodeKey(stretching: Secret(code.secret), salt: code.id.text, purpose: EnrolmentRequest.purpose))
  }

  func invite(_ service: TestService, uses: Int = 1) async throws {
    let now = service.clock.now
    try await service.core.store.invite(
      EnrolmentRecord(
        id: code.id, requestor: try named(Sample.requestor), secret: StoredSecret(key.secret.exposedBytes()),
        uses: uses, created: now, expires: now + .seconds(3600)), audit: nil, at: now)
  }

  func message(_ box: UInt8) -> [UInt8] {
    EnrolmentRequest.message(id: code.id, box: [UInt8](repeating: box, count: EnrolmentRequest.hashLength))
  }

  func request(_ box: UInt8, id: EnrolmentID? = nil, wrong: Bool = false) -> TestRequest {
    let name = [UInt8](repeating: box, count: EnrolmentRequest.hashLength)
    var proof = key.proof(of: message(box))
    if wrong { proof[31] ^= 1 }
    let asked = EnrolmentRequest(id: id ?? code.id, box: name, proof: proof)
    return TestRequest("POST", Paths.enrol, headers: [("Content-Type", "application/json")], body: asked.bytes)
  }

  func grant(_ answer: TestResponse, _ box: UInt8) throws -> EnrolmentGrant {
    let sealed = try #require(EnrolmentAnswer(answer.body)).sealed
    return try #require(EnrolmentGrant(try key.open(sealed, answering: message(box)).exposedBytes()))
  }
}
