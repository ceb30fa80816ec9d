import RegentCryptography
import MediaTokenVerifier
import RegentPairing
import PairingService
import PairingStore
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// The calls of the entitlement API against a service over sockets; docs/entitlement-coverage.md names these tests.
@Suite("Calls against a service", .regentd)
struct CallRowTests {
  @Test func `setRequestor fetches providers and completes`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try AccessEnabler(live.configuration(), delegate: recorder)
    enabler.setRequestor(live.requestor)
    try await recorder.wait(for: "setRequestorComplete 1")
    enabler.getAuthentication()
    try await recorder.wait(for: "displayProviderDialog")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "displayProviderDialog local,pass,promotion",
      ])
  }

  @Test func `setRequestor asks several services at once, and a dead one delays nothing`()
    async throws
  {
    let live = try await LiveService()
    let dead = try freePort()
    let enabler = try AccessEnabler(live.configuration())
    let providers = try await enabler.configure(
      requestor: live.requestor, services: ["http://127.0.0.1:\(dead)", live.url])
    #expect(providers.map(\.id) == ["local", "pass", "promotion"])
    #expect(providers.map(\.isTemporaryPass) == [false, true, true])
    let signIn = try await live.signIn(enabler)
    #expect(signIn.provider.id == "local")
  }

  @Test func `setRequestor for an unknown requestor fails with its status`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try AccessEnabler(live.configuration(), delegate: recorder)
    await #expect(throws: EntitlementError.self) {
      try await enabler.configure(requestor: "NOBODY")
    }
    try await recorder.wait(for: "setRequestorComplete 0")
    // The key belongs to another requestor. The service does not reveal whether the key or the requestor is wrong.
    #expect(recorder.lines.first?.hasPrefix("status SEC403") == true)
  }

  @Test func `setRequestor takes over a logout or sign-in that another process made`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let first = try await live.enabler(.folder("\(folder)/state"))
      try await live.signIn(first)
      // The other process signs out; the first instance knows nothing of it yet.
      let second = try await live.enabler(.folder("\(folder)/state"))
      #expect(await second.currentSignIn() != nil)
      try await second.signOut()
      try await first.configure(requestor: live.requestor)
      #expect(await first.currentSignIn() == nil)
      try await live.signIn(second)
      try await first.configure(requestor: live.requestor)
      #expect(await first.currentSignIn()?.userID == second.currentSignIn()?.userID)
    }
  }

  @Test func `setRequestor with secret and publicKey signs the calls`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler: any OlderCalls = try AccessEnabler(
      EnablerConfiguration(storage: .memory), delegate: recorder)
    enabler.setRequestor(
      live.requestor, signedRequestorID: "", secret: live.secret, publicKey: live.publicKey,
      serviceProviders: [live.url])
    try await recorder.wait(for: "setRequestorComplete 1")
  }

  @Test(arguments: [CallSignature.hmacSHA256, .hmacSHA1])
  func `calls are signed with HMAC-SHA256 or HMAC-SHA1`(method: CallSignature) async throws {
    let tap = Wiretap()
    let live = try await LiveService(through: tap)
    let enabler = try await live.enabler { configuration in
      configuration.credentials = .keyPair(
        publicKey: live.publicKey, secret: Secret(live.secret), method: method)
    }
    try await live.signIn(enabler)
    let name = method == .hmacSHA1 ? "HMAC-SHA1" : "HMAC-SHA256"
    let signed = tap.requests.map { $0.header("Authorization") ?? "" }
    #expect(signed.count > 3)
    #expect(signed.allSatisfy { $0.contains("signature_method=\(name)") })
    // No nonce is used twice.
    #expect(Set(signed).count == signed.count)
  }

  @Test func `the strict signature policy accepts the calls that the SDK signs`() async throws {
    let live = try await LiveService(requestor: { $0.signaturePolicy = .strict })
    try await live.signIn(try await live.enabler())
  }

  @Test func `setOptions values are sent with every call`() async throws {
    let tap = Wiretap()
    let live = try await LiveService(through: tap)
    let enabler = try await live.enabler()
    tap.forget()
    enabler.setOptions([
      "visitorID": "visitor-1", "device_info": #"{"model":"Box 9"}"#, "handleSVC": "true",
    ])
    try await live.signIn(enabler)
    let requests = tap.requests
    #expect(requests.count >= 2)
    #expect(requests.allSatisfy { $0.header("AP-Visitor-Identifier") == "visitor-1" })
    #expect(
      requests.allSatisfy { request in
        let device = DeviceInformation(reading: request.header("X-Device-Info") ?? "")
        return device?[.model] == "Box 9" && device?[.osName] == "Linux"
      })
  }

  @Test func `checkAuthentication answers from local storage, also without a service`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let enabler = try await live.enabler(.folder("\(folder)/state"))
      #expect(await enabler.currentSignIn() == nil)
      try await live.signIn(enabler)
      #expect(await enabler.currentSignIn()?.provider.id == "local")
      let recorder = Recorder()
      var configuration = live.configuration(.folder("\(folder)/state"))
      configuration.services = ["http://127.0.0.1:\(try freePort())"]
      configuration.timing.configuration = .seconds(2)
      let later = try AccessEnabler(configuration, delegate: recorder)
      later.setRequestor(live.requestor)
      later.checkAuthentication()
      try await recorder.wait(for: "setAuthenticationStatus")
      #expect(
        recorder.callbacks == ["setRequestorComplete 0", "setAuthenticationStatus 1 "])
      try await recorder.wait(for: "TRACKING_AUTHENTICATION true|local|")
    }
  }

  @Test func `getAuthentication signs in on a second screen`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let events = enabler.events
    enabler.getAuthentication()
    try await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    try await live.approve(try await events.nextCode())
    try await recorder.wait(for: "setAuthenticationStatus")
    #expect(
      recorder.callbacks == [
        "setRequestorComplete 1", "displayProviderDialog local,pass,promotion",
        "setAuthenticationStatus 1 ",
      ])
    let order = recorder.lines.map { String($0.prefix { $0 != " " && $0 != "|" }) }
    #expect(order.first { $0.hasPrefix("TRACKING") } == "TRACKING_GET_SELECTED_PROVIDER")
    #expect(recorder.lines.contains { $0.hasPrefix("status REGCODE ") })
    // A viewer who is already signed in gets only the authentication status.
    recorder.forget()
    enabler.getAuthentication()
    try await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks == ["setAuthenticationStatus 1 "])
  }

  @Test func `getAuthentication with force starts a new sign-in`() async throws {
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
    try await live.approve(try await codes.next("a code"))
    #expect(try await again.value("the sign-in").provider.id == "local")
  }

  @Test func `the app's own picker lists all providers although getAuthentication was called with a filter`()
    async throws
  {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    enabler.getAuthentication(
      filter: ProviderFilter(["TV_PROVIDERS": ["pass"], "FEATURED_TV_PROVIDERS": ["pass"]]))
    try await recorder.wait(for: "displayProviderDialog")
    #expect(recorder.callbacks.last == "displayProviderDialog local,pass,promotion")
  }

  @Test func `setSelectedProvider nil cancels the sign-in and deletes the code at the service`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let events = enabler.events
    enabler.getAuthentication()
    try await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(Sample.provider)
    let code = try await events.nextCode()
    enabler.setSelectedProvider(nil)
    try await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks.last == "setAuthenticationStatus 0 PROVIDER_NOT_SELECTED_ERROR")
    // The SDK deletes the code at the service shortly afterwards.
    try await eventually("the code is withdrawn") {
      try await live.state(of: code) == "withdrawn"
    }
    withExtendedLifetime(enabler) {}
  }

  @Test func `a temporary pass signs in at once`() async throws {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let signIn = try await enabler.authenticate(.provider(Sample.pass))
    #expect(signIn.source == .temporary)
    try await recorder.wait(for: "setAuthenticationStatus 1")
    #expect(recorder.lines.contains { $0.hasPrefix("status N011") })
    let access = try await enabler.authorize("anything")
    #expect(access.resource == "anything")
    try await recorder.wait(for: "setToken")
    #expect(recorder.lines.contains { $0.hasPrefix("status Z011") })
  }

  @Test func `a promotional pass needs the extra data and ends after its resources`() async throws {
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
  }
}

/// The deprecated calls, declared here so that calling them causes no compiler warning.
protocol OlderCalls {
  func setRequestor(
    _ requestor: String, signedRequestorID: String, secret: String, publicKey: String,
    serviceProviders: [String]?)
  func setRequestor(_ requestor: String, signedRequestorID: String, serviceProviders: [String]?)
  func setRequestor(
    _ requestor: String, signedRequestorID: String, serviceProviders: [String]?, secret: String, publicKey: String)
  func getAuthenticationToken()
  func getAuthentication(_ filter: [String])
  func getAuthentication(_ filter: [AnyHashable: Any])
  func getAuthentication(_ force: Bool, withData data: [AnyHashable: Any]?, andFilter filter: [AnyHashable: Any]?)
}

extension AccessEnabler: OlderCalls {}
