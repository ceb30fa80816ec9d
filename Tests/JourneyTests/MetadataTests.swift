import RegentCryptography
import HTTPTestSupport
import RegentEncodings
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `User metadata` {
  private func withBox(
    format: WireFormat = .json, _ change: (inout Requestor) -> Void = { _ in },
    _ body: (TestService, Box) async throws -> Void
  ) async throws {
    let service = try await serving { requestor in
      requestor.enhancedErrors = true
      change(&requestor)
    }
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      try await body(service, Box(service: service, client: client, format: format))
    }
  }

  @Test(arguments: [WireFormat.json, .xml])
  func `attributes of the account are returned unencrypted when the requestor has no certificate`(format: WireFormat)
    async throws
  {
    try await withBox(format: format) { service, box in
      try await box.signIn()
      let issued = service.clock.now
      service.clock.pass(.seconds(60))
      let answer = try await box.get("/api/v1/tokens/usermetadata")
      #expect(answer.status == 200)
      #expect(answer["updated"] == String(issued.milliseconds / 1000))
      #expect(answer.texts("encrypted").isEmpty)
      let data = answer.object("data")
      #expect(data.texts("zip") == ["12345"] && data.texts("channelID") == ["news", "sports"])
      #expect(data["householdID"] == "house-1" && data["mvpd"] == Sample.provider)
      #expect(data.object("maxRating")["MPAA"] == "PG-13")
      #expect(data["userID"] == (try await box.get("/api/v1/tokens/authn")["userId"]))
      #expect(data["tokenSource"] == "regular")
      for key in [MetadataKey.remainingResources, .usedAssets, .expirationDate] {
        #expect(!data.has(key.rawValue))
      }
    }
  }

  @Test func `a change of the account is visible in the next response`() async throws {
    try await withBox { service, box in
      try await box.signIn()
      func updated() async throws -> Instant {
        let answer = try await box.get("/api/v1/tokens/usermetadata")["updated"]
        return Instant(milliseconds: try #require(answer.flatMap { Int64($0) }) * 1000)
      }
      let issued = service.clock.now
      service.clock.pass(.seconds(100))
      #expect(try await updated() == issued)
      try await service.account { account in
        account.attributes.zipCodes = ["54321", "00001"]
        account.attributes.maximumRatings = []
        account.household = nil
      }
      let data = try await box.get("/api/v1/tokens/usermetadata").object("data")
      #expect(data.texts("zip") == ["54321", "00001"])
      #expect(!data.has("maxRating") && data["householdID"] == data["userID"])
      let changed = service.clock.now
      service.clock.pass(.seconds(100))
      #expect(try await updated() == changed)
    }
  }

  @Test func `the time of the last update never goes back, not even after a restart`() async throws {
    try await withBox { service, box in
      func updated(_ box: Box) async throws -> Instant {
        let answer = try await box.get("/api/v1/tokens/usermetadata")["updated"]
        return Instant(milliseconds: try #require(answer.flatMap { Int64($0) }) * 1000)
      }
      try await box.signIn()
      _ = try await updated(box)
      service.clock.pass(.seconds(100))
      try await service.account { $0.attributes.zipCodes = ["54321"] }
      let changed = try await updated(box)
      #expect(changed == service.clock.now)
      service.clock.pass(.seconds(100))
      // A new router has no cached state, as after a restart.
      let restarted = service.clock.now
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        var after = box
        after.client = client
        service.clock.pass(.seconds(100))
        let first = try await updated(after)
        #expect(first == restarted)
        service.clock.pass(.seconds(100))
        let second = try await updated(after)
        #expect(second == restarted)
      }
    }
  }

  @Test func `a requestor gets only the metadata keys that it is allowed`() async throws {
    try await withBox({ $0.metadataKeys = [.channelID] }) { _, box in
      try await box.signIn()
      let answer = try await box.get("/api/v1/tokens/usermetadata")
      #expect(answer.text.hasSuffix(#""encrypted":[],"data":{"channelID":["news","sports"]}}"#))
    }
    for keys in [Set<MetadataKey>(), [.remainingResources]] {
      try await withBox({ $0.metadataKeys = keys }) { _, box in
        try await box.signIn()
        #expect(try await box.get("/api/v1/tokens/usermetadata").status == 404)
      }
    }
  }

  @Test func `without a valid sign-in the response is 412`() async throws {
    try await withBox { service, box in
      func code() async throws -> String? {
        let answer = try await box.get("/api/v1/tokens/usermetadata")
        #expect(answer.status == 412 && answer["message"] == "User not authenticated")
        return answer["code"]
      }
      #expect(try await code() == "authentication_session_missing")
      try await box.signIn()
      try await service.account { $0.isDisabled = true }
      #expect(try await code() == "authentication_session_missing")
      try await service.account { $0.isDisabled = false }
      service.clock.pass(.seconds(30 * 86_400))
      #expect(try await code() == "authentication_session_expired")
    }
  }

  @Test(arguments: [WireFormat.json, .xml])
  func `openssl decrypts the attributes that are encrypted for the certificate of the requestor`(format: WireFormat)
    async throws
  {
    let folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    let made = await offPool {
      Result {
        try run(
          "openssl",
          [
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=REF30",
            "-keyout", "\(folder)/key.pem", "-out", "\(folder)/certificate.pem",
          ])
      }
    }
    #expect(try made.get().status == 0)
    let certificate = String(decoding: try readFile("\(folder)/certificate.pem"), as: UTF8.self)
    try await withBox(format: format, { $0.certificate = certificate }) { service, box in
      try await service.account { $0.attributes.zipCodes = ["12345", "SW1A 1AA"] }
      try await box.signIn()
      let answer = try await box.get("/api/v1/tokens/usermetadata")
      #expect(answer.texts("encrypted") == ["zip"])
      #expect(answer.object("data").texts("channelID") == ["news", "sports"])
      let zip = try Base64.decode(try #require(answer.object("data")["zip"]))
      try writeFile("\(folder)/zip", zip)
      let clear = await offPool {
        Result {
          try run(
            "openssl",
            ["pkeyutl", "-decrypt", "-inkey", "\(folder)/key.pem", "-in", "\(folder)/zip"])
        }
      }
      #expect(try clear.get().outputText == "12345,SW1A 1AA")
      let again = try await box.get("/api/v1/tokens/usermetadata").object("data")["zip"]
      #expect(again != answer.object("data")["zip"], "equal ciphertexts would show whether the viewer has moved")
      // 245 bytes fit into one RSA block. A longer value becomes a JWE, which any JOSE library decrypts.
      try await service.account { $0.attributes.zipCodes = [String(repeating: "1", count: 245)] }
      let fits = try await box.get("/api/v1/tokens/usermetadata").object("data")["zip"]
      #expect(try Base64.decode(try #require(fits)).count == 256)
      let long = ["SW1A 1AA", String(repeating: "1", count: 240)]
      try await service.account { $0.attributes.zipCodes = long }
      let message = try #require(try await box.get("/api/v1/tokens/usermetadata").object("data")["zip"])
      let key = try RSADecryptionKey(pem: Secret(String(decoding: try readFile("\(folder)/key.pem"), as: UTF8.self)))
      let json = try #require(JWE.decrypt(message, with: key))
      #expect(String(decoding: json, as: UTF8.self) == #"["SW1A 1AA","\#(long[1])"]"#)
    }
  }

  @Test func `an attribute that cannot be encrypted is not sent in the clear`() async throws {
    try await withBox({ $0.certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n" }) { service, box in
      try await box.signIn()
      let answer = try await box.get("/api/v1/tokens/usermetadata")
      #expect(answer.status == 500 && !answer.text.contains("12345"))
      try await service.account { $0.attributes.zipCodes = [] }
      #expect(try await box.get("/api/v1/tokens/usermetadata").status == 200)
    }
  }
}
