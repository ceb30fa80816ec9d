import HTTPTestSupport
import RegentCryptography
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService
@testable import RegentOAuth

/// An OAuth client whose requests reach different nodes.
@Suite struct `An OAuth client of two nodes` {
  @Test func `a DPoP nonce of one node is valid at the other after both have run longer than a proof is valid`()
    async throws
  {
    try await withNodes(on: .memory) { nodes in
      try await withOAuth(nodes.a) { one in
        try await withOAuth(nodes.b) { other in
          let box = try await OAuthBox(nodes.a, one)
          let key = try SigningKey.generate(.es256)
          let target = try #require(ProofTarget("\(OAuthBox.issuer)/device_authorization"))
          // The box has no clock, so only the nonce shows that its proof is new.
          func ask(_ client: any TestClient, _ nonce: String) async throws -> TestResponse {
            let proof = try DPoPProof.make(
              for: .init(method: "POST", target: target), with: key, nonce: nonce, at: Instant(milliseconds: 0))
            return try await client.post(
              "/oauth/device_authorization", form: [("client_id", box.id)], headers: [("DPoP", proof)])
          }
          func told(_ client: any TestClient) async throws -> String {
            let answer = try await ask(client, "none")
            #expect(answer.error == "use_dpop_nonce")
            return try #require(answer.header("dpop-nonce"))
          }
          // Just after the start each node accepts only its own nonce.
          let first = try await told(one)
          #expect(try await ask(one, first).status == 200)
          #expect(try await ask(other, first).error == "use_dpop_nonce")
          nodes.pass(.seconds(300), at: nodes.a)
          #expect(try await ask(one, first).status == 200, "a node still accepts its own earlier nonce")
          let nonce = try await told(one)
          #expect(nonce != first)
          #expect(try await ask(other, nonce).status == 200)
          #expect(try await told(other) == nonce)
          #expect(try await ask(one, nonce).status == 200)
        }
      }
    }
  }

  @Test func `a node that missed changes answers a refresh with 503 instead of reporting token reuse`() async throws {
    try await withNodes(on: .memory) { nodes in
      try await withOAuth(nodes.b) { client in
        let box = try await OAuthBox(nodes.b, client)
        let token = try #require(try await box.pair().refresh)
        nodes.b.clock.pass(.seconds(3))
        let late = try await box.refresh(token)
        #expect(late.status == 503 && late.error == "temporarily_unavailable", "\(late.text)")
        #expect(late.header("retry-after") != nil)
      }
    }
  }

  @Test func `a single service does not share its nonces with other services`() async throws {
    let service = try await TestService()
    service.clock.pass(.seconds(600))
    let again = try await TestService()
    again.clock.pass(.seconds(600))
    #expect(service.core.oauth.proofs.nonce(service.core.clock) != again.core.oauth.proofs.nonce(again.core.clock))
  }
}
