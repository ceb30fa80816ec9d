import RegentCryptography
import MediaTokenVerifier
import RegentHTTPClient
import RegentHTTPCodec
import RegentPairing
import PairingService
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Preauthorization, authorization, metadata and logout; docs/entitlement-coverage.md names these tests.
@Suite("Answers of the service", .regentd)
struct AnswerRowTests {
  @Test func `checkPreauthorizedResources returns the resources that may be watched`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    try await live.signIn(enabler)
    try await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.checkPreauthorizedResources(["news", "movies", "sports"])
    try await recorder.wait(for: "preauthorizedResources")
    #expect(recorder.callbacks == ["preauthorizedResources news,sports"])
    // Once from the cache and once without it.
    #expect(try await enabler.preauthorize(["sports", "news", "movies"]) == ["sports", "news"])
    #expect(try await enabler.preauthorize(["news"], usesCache: false) == ["news"])
    // The service takes five resources at once. The enabler asks in parts without telling the app.
    let many = (0..<40).map { "channel-\($0)" } + ["news"] + (40..<60).map { "channel-\($0)" } + ["sports"]
    #expect(try await enabler.preauthorize(many) == ["news", "sports"])
    #expect(!recorder.lines.contains { $0.hasPrefix("status P100") })
  }

  @Test func `an application profile has rules of its own`() async throws {
    let live = try await LiveService()
    try await live.addProfile("kids")
    let enabler = try await live.enabler()
    try await live.signIn(enabler)
    let three = ["news", "sports", "movies"]
    #expect(try await enabler.preauthorize(three) == ["news", "sports"])
    enabler.setOptions(EnablerOptions(applicationProfile: "kids"))
    #expect(try await enabler.preauthorize(three, usesCache: false) == ["news", "sports"])
    #expect(try await enabler.preauthorize(["news"]) == ["news"])
  }

  @Test func `checkAuthorization without a sign-in fails and starts none`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    enabler.checkAuthorization("news")
    try await recorder.wait(for: "tokenRequestFailed")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR",
        "tokenRequestFailed news USER_NOT_AUTHENTICATED_ERROR ",
      ])
  }

  @Test func `getAuthorization starts a login, authorizes and gives a token that verifies`()
    async throws
  {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let events = enabler.events
    enabler.getAuthorization("news")
    try await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    try await live.approve(try await events.nextCode())
    try await recorder.wait(for: "setToken")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "displayProviderDialog local,pass,promotion",
        "setAuthenticationStatus 1 ", "setToken news <signatureInfo>",
      ])
    try await recorder.wait(for: "TRACKING_AUTHORIZATION true|local|")
    let access = try await enabler.authorize("news")
    let verifier = MediaTokenVerifier(keys: .url(live.url + Paths.keySet))
    let check = await verifier.verify(access.serialized, requestor: live.requestor, resource: "news")
    #expect(check.verdict == .valid)
    let other = await verifier.verify(access.token, requestor: live.requestor, resource: "sports")
    #expect(other.verdict == .invalidResource)
    // Tracking data and media tokens name the viewer by the same id.
    let tracked = try #require(recorder.lines.first { $0.hasPrefix("TRACKING_AUTHORIZATION") })
    #expect(tracked.contains(try #require(check.contents).userSessionGUID))
  }

  @Test func `a denial carries the provider's own text`() async throws {
    let live = try await LiveService()
    try await live.forbid("ppv-*", "Not in your package")
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    try await live.signIn(enabler)
    try await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.checkAuthorization("ppv-1")
    try await recorder.wait(for: "tokenRequestFailed")
    #expect(
      recorder.callbacks == [
        "tokenRequestFailed ppv-1 USER_NOT_AUTHORIZED_ERROR Not in your package"
      ])
    #expect(recorder.lines.contains { $0.hasPrefix("status Z100") })
    await #expect {
      _ = try await enabler.authorize("ppv-2")
    } throws: { error in
      (error as? EntitlementError)?.area == .authorization
        && (error as? EntitlementError)?.message == "Not in your package"
    }
  }

  @Test(arguments: [true, false])
  func `parental controls and broken fragments have codes of their own`(isEnhanced: Bool) async throws {
    let live = try await LiveService(requestor: { $0.enhancedErrors = isEnhanced })
    let enabler = try await live.enabler()
    try await live.signIn(enabler)
    let fragment = { (rating: String) in
      #"<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>news</title>"#
        + #"<item><media:rating scheme="urn:mpaa">\#(rating)</media:rating></item></channel></rss>"#
    }
    let allowed = try await enabler.authorize(fragment("pg"))
    #expect(allowed.resource == fragment("pg"))
    await #expect {
      _ = try await enabler.authorize(fragment("r"))
    } throws: { error in
      (error as? EntitlementError)?.kind == .parentalControls
    }
    await #expect {
      _ = try await enabler.authorize("<rss><channel></rss>")
    } throws: { error in
      (error as? EntitlementError)?.status == .malformedResource
    }
  }

  @Test(arguments: [true, false])
  func `degradation can sign in every viewer, authorize every viewer, or authorize none`(isEnhanced: Bool) async throws
  {
    let live = try await LiveService(requestor: { $0.enhancedErrors = isEnhanced })
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let regular = Recorder()
    let viewer = try await live.enabler(delegate: regular)
    try await live.signIn(viewer)
    try await live.degrade(.authenticateEverybody)
    let signIn = try await enabler.authenticate(.provider(Sample.provider))
    #expect(signIn.source == .degraded)
    try await recorder.wait(for: "status N010")
    _ = try await enabler.authorize("movies")
    try await recorder.wait(for: "status Z010")
    // A viewer with an ordinary sign-in is also told why the resource is allowed.
    try await live.degrade(.authorizeEverybody)
    _ = try await viewer.authorize("movies")
    try await regular.wait(for: "status Z010")
    try await live.degrade(.authorizeNobody)
    await #expect(throws: EntitlementError.self) { _ = try await viewer.authorize("news") }
    try await regular.wait(for: "status Z169")
  }

  @Test func `getSelectedProvider returns the provider of the sign-in`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    #expect(await enabler.selectedProvider() == nil)
    try await live.signIn(enabler)
    try await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.getSelectedProvider()
    try await recorder.wait(for: "selectedProvider")
    #expect(recorder.callbacks == ["selectedProvider local"])
  }

  @Test func `getMetadata answers every opcode`() async throws {
    let live = try await LiveService(requestor: { $0.exposesDeviceID = true })
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let signIn = try await live.signIn(enabler)
    _ = try await enabler.authorize("news")
    #expect(
      try await enabler.metadata(.authenticationExpiry).value
        == .text(String(signIn.expires.milliseconds)))
    #expect(try await enabler.metadata(.authorizationExpiry(resource: "news")).value != nil)
    #expect(try await enabler.metadata(.authorizationExpiry(resource: "movies")).value == nil)
    #expect(try await enabler.metadata(.deviceID).value == .text(enabler.deviceID))
    #expect(try await enabler.metadata(.user("zip")).value == .list(["12345"]))
    #expect(try await enabler.metadata(.user("channelID")).value == .list(["news", "sports"]))
    #expect(try await enabler.metadata(.user("userID")).value == .text(signIn.userID))
    #expect(try await enabler.metadata(.user("tokenSource")).value == .text("regular"))
    enabler.getMetadata([
      "METADATA_OPCODE_KEY": "METADATA_USER_META", "METADATA_USER_META_KEY": "householdID",
    ])
    try await recorder.wait(for: "setMetadataStatus METADATA_USER_META text(")
  }

  @Test func `the device id is returned only where the service or the app's configuration allows it`()
    async throws
  {
    let live = try await LiveService()
    let usual = try await live.enabler()
    #expect(try await usual.metadata(.deviceID).value == nil)
    let open = try await live.enabler { $0.exposesDeviceID = true }
    #expect(try await open.metadata(.deviceID).value == .text(open.deviceID))
  }

  @Test func `encrypted metadata is decrypted with the app's key, or returned encrypted`() async throws {
    let key = try SigningKey.generate(.rs256, rsaBits: 2048)
    let live = try await LiveService(requestor: { $0.certificate = key.publicKey.pem() })
    let with = try await live.enabler { configuration in
      configuration.metadataKey = try? RSADecryptionKey(pem: key.pem())
    }
    try await live.signIn(with)
    #expect(try await with.metadata(.user("zip")) == Metadata(value: .list(["12345"])))
    let without = try await live.enabler()
    try await live.signIn(without)
    let sealed = try await without.metadata(.user("zip"))
    #expect(sealed.isEncrypted)
    #expect(sealed.value != .text("12345"))
    // A value longer than one RSA block.
    let json = #"["SW1A 1AA","12345"]"#
    let message = try JWE.encrypt(json: Array(json.utf8), for: RSAEncryptionKey(pem: key.publicKey.pem()))
    let body = #"{"updated":1,"encrypted":["zip"],"data":{"zip":"\#(message)"}}"#
    let reply = ClientResponse(
      status: .ok, headers: [], body: Array(body.utf8), url: try ClientURL("http://service.example"))
    let reader = AnswerReader(metadataKey: try RSADecryptionKey(pem: key.pem()))
    #expect(
      reader.answer(to: .userMetadata, reply)
        == .metadata(["zip": Metadata(value: .list(["SW1A 1AA", "12345"]))]))
  }

  @Test func `logout ends the sign-in on the device and at the service`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    try await live.signIn(enabler)
    try await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.logout()
    try await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks == ["setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR"])
    // A later setRequestor does not bring the sign-in back.
    try await enabler.configure(requestor: live.requestor)
    #expect(await enabler.currentSignIn() == nil)
  }
}
