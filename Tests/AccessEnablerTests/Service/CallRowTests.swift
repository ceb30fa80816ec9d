import Cryptography
import MediaTokenVerifier
import Pairing
import PairingService
import PairingStore
import PairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// The calls of the entitlement API against a service over sockets; docs/entitlement-coverage.md names these tests.
@Suite("Calls against a service")
struct CallRowTests {
  @Test func `setRequestor fetches providers and completes`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try AccessEnabler(live.configuration(), delegate: recorder)
    enabler.setRequestor(Sample.requestor)
    await recorder.wait(for: "setRequestorComplete 1")
    enabler.getAuthentication()
    await recorder.wait(for: "displayProviderDialog")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "displayProviderDialog local,pass,promotion",
      ])
    await live.kill()
  }

  @Test func `setRequestor asks several services at once and a dead one delays nothing`()
    async throws
  {
    let live = try await LiveService()
    let dead = try freePort()
    let enabler = try AccessEnabler(live.configuration())
    let providers = try await enabler.configure(
      requestor: Sample.requestor, services: ["http://127.0.0.1:\(dead)", live.url])
    #expect(providers.map(\.id) == ["local", "pass", "promotion"])
    #expect(providers.map(\.isTemporaryPass) == [false, true, true])
    let signIn = try await live.signIn(enabler)
    #expect(signIn.provider.id == "local")
    await live.kill()
  }

  @Test func `setRequestor for an unknown requestor is an error with its code`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try AccessEnabler(live.configuration(), delegate: recorder)
    await #expect(throws: EntitlementError.self) {
      try await enabler.configure(requestor: "NOBODY")
    }
    await recorder.wait(for: "setRequestorComplete 0")
    // A key that belongs to another requestor: the service does not say which of the two is wrong.
    #expect(recorder.lines.first?.hasPrefix("status SEC403") == true)
    await live.kill()
  }

  @Test func `setRequestor again takes over what happened elsewhere`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let first = try await live.enabler(.folder("\(folder)/state"))
      try await live.signIn(first)
      // The service alone knows that the device is signed out.
      let second = try await live.enabler(.folder("\(folder)/state"))
      #expect(await second.currentSignIn() != nil)
      try await second.signOut()
      try await first.configure(requestor: Sample.requestor)
      #expect(await first.currentSignIn() == nil)
      try await live.signIn(second)
      try await first.configure(requestor: Sample.requestor)
      #expect(await first.currentSignIn()?.userID == second.currentSignIn()?.userID)
    }
    await live.kill()
  }

  @Test func `setRequestor with secret and publicKey signs the calls`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler: any OlderCalls = try AccessEnabler(
      EnablerConfiguration(storage: .memory), delegate: recorder)
    enabler.setRequestor(
      Sample.requestor, signedRequestorID: "", secret: Sample.secret, publicKey: Sample.publicKey,
      serviceProviders: [live.url])
    await recorder.wait(for: "setRequestorComplete 1")
    await live.kill()
  }

  @Test func `setRequestor with signedRequestorID sends it along`() async throws {
    let seen = Seen()
    let live = try await LiveService(gate: { request in
      seen.note(request)
      return nil
    })
    let recorder = Recorder()
    let enabler = try AccessEnabler(live.configuration(), delegate: recorder)
    (enabler as any OlderCalls).setRequestor(
      Sample.requestor, signedRequestorID: "c2lnbmVk", serviceProviders: nil)
    await recorder.wait(for: "setRequestorComplete")
    #expect(seen.targets.contains { $0.contains("signedRequestorID=c2lnbmVk") })
    await live.kill()
  }

  @Test(arguments: [CallSignature.hmacSHA256, .hmacSHA1])
  func `calls are signed with either method`(method: CallSignature) async throws {
    let seen = Seen()
    let live = try await LiveService(gate: { request in
      seen.note(request)
      return nil
    })
    let enabler = try await live.enabler { configuration in
      configuration.credentials = .keyPair(
        publicKey: Sample.publicKey, secret: Secret(Sample.secret), method: method)
    }
    try await live.signIn(enabler)
    let name = method == .hmacSHA1 ? "HMAC-SHA1" : "HMAC-SHA256"
    #expect(seen.authorizations.count > 3)
    #expect(seen.authorizations.allSatisfy { $0.contains("signature_method=\(name)") })
    // Each nonce once.
    #expect(Set(seen.authorizations).count == seen.authorizations.count)
    await live.kill()
  }

  @Test func `the strict policy accepts what the SDK signs`() async throws {
    let live = try await LiveService(requestor: { $0.signaturePolicy = .strict })
    try await live.signIn(try await live.enabler())
    await live.kill()
  }

  @Test func `setOptions go with every call`() async throws {
    let seen = Seen()
    let live = try await LiveService(gate: { request in
      seen.note(request)
      return nil
    })
    let enabler = try await live.enabler()
    seen.forget()
    enabler.setOptions([
      "visitorID": "visitor-1", "device_info": #"{"model":"Box 9"}"#, "handleSVC": "true",
    ])
    try await live.signIn(enabler)
    #expect(seen.visitors.count >= 2)
    #expect(seen.visitors.allSatisfy { $0 == "visitor-1" })
    let devices = seen.devices.compactMap { DeviceInformation(reading: $0) }
    #expect(devices.count == seen.visitors.count)
    #expect(devices.allSatisfy { $0[.model] == "Box 9" && $0[.osName] == "Linux" })
    await live.kill()
  }

  @Test func `checkAuthentication answers from local storage, also without a service`() async throws
  {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let enabler = try await live.enabler(.folder("\(folder)/state"))
      #expect(await enabler.currentSignIn() == nil)
      try await live.signIn(enabler)
      await live.kill()
      #expect(await enabler.currentSignIn()?.provider.id == "local")
      let recorder = Recorder()
      var configuration = live.configuration(.folder("\(folder)/state"))
      configuration.timing.configuration = .seconds(2)
      let later = try AccessEnabler(configuration, delegate: recorder)
      later.setRequestor(Sample.requestor)
      later.checkAuthentication()
      await recorder.wait(for: "setAuthenticationStatus")
      #expect(
        recorder.callbacks == ["setRequestorComplete 0", "setAuthenticationStatus 1 "])
      await recorder.wait(for: "TRACKING_AUTHENTICATION true|local|")
    }
  }

  @Test func `getAuthentication signs in on a second screen`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let events = enabler.events
    enabler.getAuthentication()
    await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    for await case .registrationCode(let offer) in events {
      try await live.service.approve(offer.code)
      break
    }
    await recorder.wait(for: "setAuthenticationStatus")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "displayProviderDialog local,pass,promotion",
        "setAuthenticationStatus 1 ",
      ])
    let order = recorder.lines.map { String($0.prefix { $0 != " " && $0 != "|" }) }
    #expect(order.first { $0.hasPrefix("TRACKING") } == "TRACKING_GET_SELECTED_PROVIDER")
    #expect(recorder.lines.contains { $0.hasPrefix("status REGCODE ") })
    enabler.getAuthentication()
    await live.kill()
  }

  @Test func `getAuthentication with force signs in anew`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    try await live.signIn(enabler)
    #expect(try await enabler.authenticate().provider.id == "local")
    let (codes, seen) = AsyncStream<String>.makeStream()
    let again = Task {
      try await enabler.authenticate(.provider(Sample.provider), isForced: true) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer.code) }
      }
    }
    for await code in codes {
      try await live.service.approve(code)
      break
    }
    #expect(try await again.value.provider.id == "local")
    await live.kill()
  }

  @Test func `getAuthentication with a filter shows those providers first`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    enabler.getAuthentication(
      filter: ProviderFilter([
        "TV_PROVIDERS": ["pass", "local"], "FEATURED_TV_PROVIDERS": ["pass"],
      ]))
    await recorder.wait(for: "displayProviderDialog")
    #expect(recorder.callbacks.last?.hasPrefix("displayProviderDialog pass,local") == true)
    await live.kill()
  }

  @Test func `setSelectedProvider nil cancels and gives the code back`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let events = enabler.events
    enabler.getAuthentication()
    await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    var code = ""
    for await case .registrationCode(let offer) in events {
      code = offer.code
      break
    }
    enabler.setSelectedProvider(nil)
    await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks.last == "setAuthenticationStatus 0 PROVIDER_NOT_SELECTED_ERROR")
    // The service has it back soon.
    let registration = try? live.service.found(code)
    if let registration {
      for _ in 0..<500 {
        if live.service.core.codes.find(registration)?.flow.state.status == .withdrawn { break }
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(live.service.core.codes.find(registration)?.flow.state.status == .withdrawn)
    }
    await live.kill()
  }

  @Test func `a temporary pass authenticates at once`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let signIn = try await enabler.authenticate(.provider(Sample.pass))
    #expect(signIn.source == .temporary)
    await recorder.wait(for: "setAuthenticationStatus 1")
    #expect(recorder.lines.contains { $0.hasPrefix("status N011") })
    let access = try await enabler.authorize("anything")
    #expect(access.resource == "anything")
    await recorder.wait(for: "setToken")
    #expect(recorder.lines.contains { $0.hasPrefix("status Z011") })
    await live.kill()
  }

  @Test func `a promotional pass needs the extra data`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    await #expect(throws: EntitlementError.self) {
      try await enabler.authenticate(.provider(Sample.promotion))
    }
    let signIn = try await enabler.authenticate(
      .provider(Sample.promotion), data: ["email": "a@b.example"])
    #expect(signIn.source == .temporary)
    _ = try await enabler.authorize("one")
    _ = try await enabler.authorize("two")
    await #expect {
      _ = try await enabler.authorize("three")
    } throws: { error in
      (error as? EntitlementError)?.kind == .temporaryPassExpired
    }
    await live.kill()
  }

  @Test func `checkPreauthorizedResources says which may be watched`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    try await live.signIn(enabler)
    await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.checkPreauthorizedResources(["news", "movies", "sports"])
    await recorder.wait(for: "preauthorizedResources")
    #expect(recorder.callbacks == ["preauthorizedResources news,sports"])
    // Within the cache, and beside it.
    #expect(try await enabler.preauthorize(["sports", "news", "movies"]) == ["sports", "news"])
    #expect(try await enabler.preauthorize(["news"], usesCache: false) == ["news"])
    await #expect {
      _ = try await enabler.preauthorize((0..<6).map { "channel-\($0)" })
    } throws: { error in
      (error as? EntitlementError)?.kind == .tooManyResources
    }
    await recorder.wait(for: "status P100")
    await live.kill()
  }

  @Test func `checkAuthorization without a sign-in stops`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    enabler.checkAuthorization("news")
    await recorder.wait(for: "tokenRequestFailed")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "tokenRequestFailed news USER_NOT_AUTHENTICATED_ERROR ",
      ])
    await live.kill()
  }

  @Test func `getAuthorization starts a login, authorizes and gives a token that verifies`()
    async throws
  {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let events = enabler.events
    enabler.getAuthorization("news")
    await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    for await case .registrationCode(let offer) in events {
      try await live.service.approve(offer.code)
      break
    }
    await recorder.wait(for: "setToken")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "displayProviderDialog local,pass,promotion",
        "setAuthenticationStatus 1 ", "setToken news <signatureInfo>",
      ])
    await recorder.wait(for: "TRACKING_AUTHORIZATION true|local|")
    let access = try await enabler.authorize("news")
    let verifier = MediaTokenVerifier(keys: .url(live.url + Paths.keySet))
    let check = await verifier.verify(access.serialized, resource: "news")
    #expect(check.verdict == .valid)
    #expect(await verifier.verify(access.token, resource: "sports").verdict == .invalidResource)
    // The viewer has one name in tracking data and in media tokens.
    let tracked = try #require(recorder.lines.first { $0.hasPrefix("TRACKING_AUTHORIZATION") })
    #expect(tracked.contains(try #require(check.contents).userSessionGUID))
    await live.kill()
  }

  @Test func `a denial brings the provider's own words`() async throws {
    let live = try await LiveService()
    try await live.rule("ppv-*", .deny(message: "Not in your package"))
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    try await live.signIn(enabler)
    await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.checkAuthorization("ppv-1")
    await recorder.wait(for: "tokenRequestFailed")
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
    await live.kill()
  }

  @Test func `parental controls and broken fragments have codes of their own`() async throws {
    let live = try await LiveService(requestor: { $0.enhancedErrors = true })
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
    await live.kill()
  }

  @Test func `degradation lets everybody in, everybody watch, or nobody`() async throws {
    let live = try await LiveService(requestor: { $0.enhancedErrors = true })
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let regular = Recorder()
    let viewer = try await live.enabler(delegate: regular)
    try await live.signIn(viewer)
    try await live.degrade(.authenticateEverybody)
    let signIn = try await enabler.authenticate(.provider(Sample.provider))
    #expect(signIn.source == .degraded)
    await recorder.wait(for: "status N010")
    _ = try await enabler.authorize("movies")
    await recorder.wait(for: "status Z010")
    try await live.degrade(.authorizeNobody)
    await #expect(throws: EntitlementError.self) { _ = try await viewer.authorize("news") }
    await regular.wait(for: "status Z169")
    await live.kill()
  }

  @Test func `getSelectedProvider tells the provider`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    #expect(await enabler.selectedProvider() == nil)
    try await live.signIn(enabler)
    await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.getSelectedProvider()
    await recorder.wait(for: "selectedProvider")
    #expect(recorder.callbacks == ["selectedProvider local"])
    await live.kill()
  }

  @Test func `getMetadata answers every opcode`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder) { $0.exposesDeviceID = true }
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
    enabler.getMetadata([
      "METADATA_OPCODE_KEY": "METADATA_USER_META", "METADATA_USER_META_KEY": "householdID",
    ])
    await recorder.wait(for: "setMetadataStatus householdID text(")
    await live.kill()
  }

  @Test func `encrypted metadata is decrypted with the app's key, or handed on`() async throws {
    let key = try SigningKey.generate(.rs256, rsaBits: 2048)
    let live = try await LiveService(requestor: { $0.certificate = key.publicKey.pem() })
    let with = try await live.enabler { configuration in
      configuration.metadataKey = try? RSADecryptionKey(pem: key.pem())
    }
    try await live.signIn(with)
    #expect(try await with.metadata(.user("zip")) == Metadata(value: .text("12345")))
    let without = try await live.enabler()
    try await live.signIn(without)
    let sealed = try await without.metadata(.user("zip"))
    #expect(sealed.isEncrypted)
    #expect(sealed.value != .text("12345"))
    await live.kill()
  }

  @Test func `logout signs out here and at the service`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    try await live.signIn(enabler)
    await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.logout()
    await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks == ["setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR"])
    // The service does not bring it back.
    try await enabler.configure(requestor: Sample.requestor)
    #expect(await enabler.currentSignIn() == nil)
    await live.kill()
  }

  @Test func `handleExternalURL finishes a browser login and a browser logout`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder) {
      $0.login = .browser(redirectURL: "http://127.0.0.1:9/done")
    }
    enabler.getAuthentication()
    await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    await recorder.wait(for: "navigateToUrl")
    let url = try #require(recorder.callbacks.last)
    let code = try #require(url.split(separator: "reg_code=").last?.prefix(8))
    #expect(url.contains("\(live.url)/api/v1/authenticate?"))
    try await live.service.approve(String(code))
    enabler.handleExternalURL("http://127.0.0.1:9/done")
    await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks.last == "setAuthenticationStatus 1 ")
    await recorder.wait(for: "TRACKING_AUTHENTICATION true")
    recorder.forget()
    enabler.logout()
    await recorder.wait(for: "navigateToUrl")
    #expect(recorder.callbacks.last?.contains("/logout?requestor_id=REF30&redirect_url=") == true)
    enabler.handleExternalURL("http://127.0.0.1:9/done")
    await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks.last == "setAuthenticationStatus 0 USER_NOT_AUTHENTICATED_ERROR")
    await live.kill()
  }

  @Test func `the number to match is told when the phone is there`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler { $0.numberMatching = true }
    let events = enabler.events
    let signIn = Task { try await enabler.authenticate(.provider(Sample.provider)) }
    var number: Int?
    for await event in events {
      if case .registrationCode(let offer) = event {
        _ = try await live.service.core.desk.open(try live.service.found(offer.code))
      }
      if case .phoneConnected(let match) = event {
        number = match
        break
      }
    }
    #expect((10...99).contains(number ?? 0))
    signIn.cancel()
    _ = await signIn.result
    await live.kill()
  }

  @Test func `a no on the phone ends the sign-in`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let (codes, seen) = AsyncStream<String>.makeStream()
    let signIn = Task {
      try await enabler.authenticate(.onSecondScreen) { event in
        if case .registrationCode(let offer) = event { seen.yield(offer.code) }
      }
    }
    for await code in codes {
      try await live.service.deny(code)
      break
    }
    await #expect {
      _ = try await signIn.value
    } throws: { error in
      (error as? EntitlementError)?.kind == .denied
    }
    await recorder.wait(for: "setAuthenticationStatus 0 GENERIC_AUTHENTICATION_ERROR")
    await live.kill()
  }

  @Test func `the code goes on after a restart of the box`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let storage = TokenStorage.folder("\(folder)/state")
      var enabler: AccessEnabler? = try await live.enabler(storage)
      let first = try await Self.firstCode(of: try #require(enabler))
      // The process ends without giving the code back.
      enabler = nil
      let second = try await live.enabler(storage)
      let (codes, seen) = AsyncStream<String>.makeStream()
      let signIn = Task {
        try await second.authenticate(.onSecondScreen) { event in
          if case .registrationCode(let offer) = event { seen.yield(offer.code) }
        }
      }
      for await code in codes {
        #expect(code == first)
        try await live.service.approve(code)
        break
      }
      #expect(try await signIn.value.provider.id == "local")
    }
    await live.kill()
  }

  private static func firstCode(of enabler: AccessEnabler) async throws -> String {
    let events = enabler.events
    enabler.getAuthentication()
    for await event in events {
      if case .displayProviderDialog = event { enabler.selectProviderOnSecondScreen() }
      if case .registrationCode(let offer) = event { return offer.code }
    }
    throw TestSupportError("no code")
  }
}

/// The deprecated calls, reached without the compiler's warning.
protocol OlderCalls {
  func setRequestor(
    _ requestor: String, signedRequestorID: String, secret: String, publicKey: String,
    serviceProviders: [String]?)
  func setRequestor(_ requestor: String, signedRequestorID: String, serviceProviders: [String]?)
  func getAuthenticationToken()
  func getAuthentication(_ filter: [String])
}

extension AccessEnabler: OlderCalls {}
