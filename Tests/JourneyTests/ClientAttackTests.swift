import HTTPServer
import HTTPTestSupport
import RegentCryptography
import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Attacks on the registration of clients` {
  /// The statement with its header replaced.
  private func forged(_ statement: String, header: String) -> String {
    let parts = statement.split(separator: ".").map(String.init)
    return [Base64URL.encode(Array(header.utf8)), parts[1], parts[2]].joined(separator: ".")
  }

  @Test func `a software statement is accepted only with the algorithm RS256`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    let keyID = try #require(try UnverifiedJWS(statement, longest: 8192).keyID)
    // The public key is known to everyone. If it were accepted as an HMAC secret, every attacker could sign.
    for algorithm in ["none", "None", "HS256", "RS384", "RS512", "PS256", "ES256", "", "rs256"] {
      let header = #"{"alg":"\#(algorithm)","kid":"\#(keyID)","typ":"software-statement+jwt"}"#
      #expect(service.core.statements.read(forged(statement, header: header)) == nil, "\(algorithm)")
    }
    let parts = statement.split(separator: ".").map(String.init)
    for text in ["\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])", "\(statement).", ".\(statement)", "..", ""] {
      #expect(service.core.statements.read(text) == nil, "\(text.prefix(20))")
    }
    // A key in the header, or a path in place of the key's id, is not used.
    for more in [#""jwk":{"kty":"RSA"},"#, #""jku":"https://evil.example","#, #""kid":"../../etc/passwd","#] {
      let header = #"{\#(more)"alg":"RS256","typ":"software-statement+jwt"}"#
      #expect(service.core.statements.read(forged(statement, header: header)) == nil, "\(more)")
    }
  }

  @Test func `duplicate members and oversized bodies are refused and do not count as guesses`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      for body in [
        #"{"software_statement":"\#(statement)","software_statement":"\#(statement)"}"#,
        #"{"software_statement":"\#(statement)","redirect_uri":"app://a","redirect_uri":"app://b"}"#,
        #"{"software_statement":"\#(statement)"}{}"#,
        #"{"software_statement":"\#(statement)","x":"\#(String(repeating: "x", count: 40_000))"}"#,
        #"{"software_statement":"\#(statement)","x":\#(String(repeating: "[", count: 20))\#(String(repeating: "]", count: 20))}"#,
      ] {
        let answer = try await client.send(jsonRequest("/o/client/register", body))
        #expect(answer.status == 400 && answer.text.contains("invalid_request"), "\(answer.text)")
      }
      let giant = #"{"software_statement":"\#(String(repeating: "A", count: 30_000))"}"#
      let refused = try await client.send(jsonRequest("/o/client/register", giant))
      #expect(refused.text.contains("invalid_software_statement"))
      // A malformed body is no guess, so the app that shows a valid statement is still let in.
      #expect(try await client.register(statement).status == 201)
    }
  }

  @Test func `each registration gives a new client, at a limited rate for each source address`()
    async throws
  {
    let service = try await TestService()
    let statement = try await service.statement()
    let router = try service.router()
    let flooder = InProcessClient(router, peer: .network(IPAddress(ipv4: 0xC633_6407), port: 1))
    let honest = InProcessClient(router, peer: .network(IPAddress(ipv4: 0xCB00_7109), port: 1))
    var ids: Set<String> = []
    var statuses: [UInt16: Int] = [:]
    for _ in 0..<500 {
      let answer = try await flooder.register(statement)
      statuses[answer.status, default: 0] += 1
      if answer.status == 201 { ids.insert(try answer.json().string("client_id")) }
    }
    #expect(ids.count == statuses[201], "each installation is a client of its own")
    #expect(statuses[429, default: 0] > 300, "a flood is slowed down: \(statuses)")
    #expect(Set(statuses.keys).isSubset(of: [201, 429]))
    #expect(try await honest.register(statement).status == 201)
    // Registrations continue at the allowed rate, while the number of audit lines stays bounded.
    for _ in 0..<60 {
      service.clock.pass(.seconds(1))
      #expect(try await flooder.register(statement).status == 201)
    }
    let listed = try await service.audit("client.register").count
    #expect(listed <= 103, "\(listed) lines")
    // After some wrong statements the source gets only 429 for wrong ones, and the valid one still works.
    let guesser = InProcessClient(router, peer: .network(IPAddress(ipv4: 0xC633_6508), port: 1))
    var wrong = 0
    while wrong < 100, try await guesser.register("\(statement)\(wrong)").status == 400 { wrong += 1 }
    #expect((5...60).contains(wrong))
    #expect(try await guesser.register("\(statement)x").status == 429)
    #expect(try await guesser.register(statement).status == 201)
    #expect(try await honest.register(statement).status == 201)
  }
}
