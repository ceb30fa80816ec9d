import RegentCryptography
import HTTPTestSupport
import RegentEncodings
import RegentPairing
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import Testing

@testable import PairingService

/// The whole protocol in one test: in both formats, in process and over sockets, with and without enhanced errors.
@Suite("From a registration code to a media token")
struct JourneyTests {
  @Test(arguments: Telling.all)
  func `a box gets a code, is approved, asks what it may watch, plays and signs out`(
    telling: Telling
  ) async throws {
    try await telling.run { box in
      let service = box.service
      try await service.entitle("ppv-*", .deny(message: "Not in your package: call 555"))
      // Before the approval.
      let code = try await box.code(["mvpd": Sample.provider])
      #expect(try await box.get("/api/v1/tokens/authn").status == 404)
      #expect(try await box.authorize("news").status == 403)
      #expect(try await box.get("/api/v1/preauthorize", ["resource": "news"]).status == 412)
      #expect(try await box.get("/api/v1/tokens/usermetadata").status == 412)

      try await service.approve(code)
      let signedIn = try await box.get("/api/v1/tokens/authn")
      #expect(signedIn.status == 200 && signedIn["mvpd"] == Sample.provider)
      let userID = try #require(signedIn["userId"])

      let asked = try await box.get("/api/v1/preauthorize", ["resource": "news,ppv-1,SPORTS,x"])
      let answers = asked.items("resources")
      #expect(answers.map { $0["id"] } == ["news", "ppv-1", "SPORTS", "x"])
      #expect(answers.map { $0["authorized"] } == ["true", "false", "true", "false"])
      #expect(
        answers.map { $0.has("error") } == [false, telling.enhanced, false, telling.enhanced])

      let denied = try await box.authorize("ppv-1")
      #expect(denied.status == 403 && denied["status"] == "403")
      #expect(denied["message"] == "User not authorized")
      #expect(denied["details"] == "Not in your package: call 555")
      #expect(denied["code"] == (telling.enhanced ? "authorization_denied_by_mvpd" : nil))
      let permitted = try await box.authorize("news")
      #expect(permitted.status == 200 && permitted["resource"] == "news")
      #expect(permitted["requestor"] == Sample.requestor && permitted["mvpd"] == Sample.provider)
      let expires = Instant(milliseconds: try #require(permitted["expires"].flatMap { Int64($0) }))
      #expect(expires == service.clock.now + .seconds(86_400))
      let again = try await box.get("/api/v1/tokens/authz", ["resource": "news"])
      #expect(again.status == 200 && again.text == permitted.text)

      let play = try await box.media("news")
      #expect(play.status == 200 && play["userId"] == userID && play["mvpdId"] == Sample.provider)
      let token = try ReceivedMediaToken(reading: try #require(play["serializedToken"]))
      #expect(token.token.resource == "news" && token.token.requestor == Sample.requestor)
      #expect(token.token.sessionGUID == Hex.encode(LegacyMD5.hash(userID)))
      let keys = try await box.client.get(Paths.keySet)
      let key = try #require(
        try JWKSet(reading: keys.body).keys(token.token.keyID, .rs256).first)
      #expect(key.isValid(token.signature, for: token.signedBytes))

      let about = try await box.get("/api/v1/tokens/usermetadata")
      #expect(about.status == 200 && about.object("data").texts("zip") == ["12345"])
      #expect(about.object("data")["userID"] == userID)

      #expect(try await box.send("DELETE", "/api/v1/logout").status == 204)
      let gone = try await box.authorize("news")
      #expect(gone.status == 403 && gone["message"] == "User not Authenticated")
      #expect(gone["code"] == (telling.enhanced ? "authentication_session_missing" : nil))
      #expect(try await box.media("news").status == 403)
      let authz = try await box.get("/api/v1/tokens/authz", ["resource": "news"])
      #expect(authz.status == 412 && authz["message"] == "User not authenticated")
    }
  }
}
