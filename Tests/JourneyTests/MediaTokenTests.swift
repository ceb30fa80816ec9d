import RegentCryptography
import HTTPTestSupport
import RegentEncodings
import RegentJSON
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `Media tokens` {
  private func withBox(
    lifetime: Duration = MediaToken.usualLifetime,
    _ body: (TestService, Box) async throws -> Void
  ) async throws {
    let service = try await TestService(options: { $0.mediaTokenLifetime = lifetime })
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await box.signIn()
      try await body(service, box)
    }
  }

  @Test(arguments: ["news", "a <resource> & \"more\"", "한국어"])
  func `openssl verifies the signature of a media token`(resource: String) async throws {
    try await withBox { service, box in
      try await service.entitle("*", .allow)
      #expect(try await box.authorize(resource).status == 200)
      let play = try await box.media(resource)
      let serialized = try #require(play["serializedToken"])
      // The token is taken apart by hand, not by the project's own reader.
      let text = String(decoding: try Base64.decode(serialized), as: UTF8.self)
      let parts = text.split(separator: "</signatureInfo>", maxSplits: 1)
      let signature = try Base64.decode(String(parts[0].dropFirst("<signatureInfo>".count)))
      let element = String(parts[1])
      #expect(element.hasPrefix("<shortAuthorizationToken><sessionGUID>"))
      #expect(element.hasSuffix("</shortAuthorizationToken>"))
      let id = try #require(element.split(separator: "<keyId>").last?.prefix { $0 != "<" })
      let set = try JWKSet(reading: try await box.client.get(Paths.keySet).body)
      let key = try #require(set.keys(String(id), .rs256).first)
      let said = await offPool {
        Result {
          try withTemporaryFolder { folder in
            try writeFile("\(folder)/key", Array(key.pem().utf8))
            try writeFile("\(folder)/signature", signature)
            func verify(_ text: String) throws -> String {
              try run(
                "openssl",
                [
                  "dgst", "-sha256", "-verify", "\(folder)/key", "-signature",
                  "\(folder)/signature",
                ],
                input: Array(text.utf8)
              ).outputText
            }
            return [
              try verify(element), try verify(element.replacing("ttl", with: "TTL")),
            ]
          }
        }
      }
      let words = try said.get()
      #expect(words[0] == "Verified OK\n")
      #expect(!words[1].contains("OK"))
    }
  }

  @Test func `both paths for media tokens work, and each call gives a new token`()
    async throws
  {
    try await withBox { service, box in
      #expect(try await box.media("news")["message"] == "User not authorized")
      #expect(try await box.authorize("news").status == 200)
      let first = try await box.media("news")
      service.clock.pass(.seconds(1))
      let second = try await box.get("/api/v1/mediatoken", ["resource": "news"])
      #expect(second.status == 200)
      #expect(first["serializedToken"] != second["serializedToken"])
      #expect(service.core.metrics.now[.mediaTokens] == 2)
      let token = try ReceivedMediaToken(reading: try #require(second["serializedToken"])).token
      #expect(token.issued == service.clock.now && token.lifetime == .seconds(420))
      #expect(second["expires"] == String(token.expires.milliseconds))
      // The permit of one device gives no token to another device.
      let other = Box(service: service, client: box.client, device: "box-2")
      try await other.signIn()
      #expect(try await other.media("news").status == 403)
    }
  }

  @Test func `the configured lifetime applies to media tokens`() async throws {
    try await withBox(lifetime: .seconds(60)) { service, box in
      _ = try await box.authorize("news")
      let end = String((service.clock.now + .seconds(60)).milliseconds)
      #expect(try await box.media("news")["expires"] == end)
    }
  }

  @Test func `a MediaRSS fragment is returned exactly as it was sent`() async throws {
    try await withBox { _, box in
      let fragment = "<rss>\n<channel><title> News </title></channel></rss>"
      #expect(try await box.authorize(fragment)["resource"] == fragment)
      let play = try await box.media(fragment)
      #expect(play["resource"] == fragment)
      let token = try ReceivedMediaToken(reading: try #require(play["serializedToken"])).token
      #expect(token.resource == fragment)
    }
  }

  @Test(arguments: TestTransport.allCases)
  func `the key set can be cached and is revalidated with its ETag`(transport: TestTransport)
    async throws
  {
    let service = try await TestService()
    try await transport.withClient(of: try service.router()) { client in
      let set = try await client.get(Paths.keySet)
      #expect(set.status == 200 && set.header("Content-Type") == "application/jwk-set+json")
      #expect(set.header("Cache-Control") == "public, max-age=300")
      let keys = try #require(try JSONValue(reading: set.body)["keys"]?.array)
      #expect(keys.count == 1)
      #expect(["d", "p", "q", "dp", "dq", "qi"].allSatisfy { keys[0][$0] == nil })
      #expect(keys[0]["kty"]?.string == "RSA" && keys[0]["kid"]?.string != nil)
      let tag = try #require(set.header("ETag"))
      for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
        let same = try await client.get(Paths.keySet, headers: [("If-None-Match", known)])
        #expect(same.status == 304 && same.body.isEmpty, "\(known)")
        #expect(same.header("ETag") == tag)
        #expect(same.header("Cache-Control") == "public, max-age=300")
      }
      let other = try await client.get(Paths.keySet, headers: [("If-None-Match", "\"x\"")])
      #expect(other.status == 200)
      let head = try await client.send(TestRequest("HEAD", Paths.keySet))
      #expect(head.status == 200 && head.header("ETag") == tag)
      _ = try await service.core.mediaKeys.rotate(audit: nil, at: service.clock.now)
      let changed = try await client.get(Paths.keySet, headers: [("If-None-Match", tag)])
      #expect(changed.status == 200 && changed.header("ETag") != tag)
    }
  }

  @Test func `a new key is published before it signs, and the old one until its last token has expired`()
    async throws
  {
    try await withBox { service, box in
      #expect(try await box.authorize("news").status == 200)
      func signer() async throws -> String {
        let play = try await box.media("news")
        return try ReceivedMediaToken(reading: try #require(play["serializedToken"])).token.keyID
      }
      func published() async throws -> Int {
        try JWKSet(reading: try await box.client.get(Paths.keySet).body).keys.count
      }
      let old = try await signer()
      _ = try await service.core.mediaKeys.rotate(audit: nil, at: service.clock.now)
      #expect(try await signer() == old)
      #expect(try await published() == 2)
      service.clock.pass(.seconds(600))
      #expect(try await signer() != old)
      await Upkeep(service.core).once()
      #expect(try await published() == 2)
      service.clock.pass(.seconds(600 + 420))
      #expect(try await published() == 1)
      #expect(try await signer() != old)
    }
  }
}
