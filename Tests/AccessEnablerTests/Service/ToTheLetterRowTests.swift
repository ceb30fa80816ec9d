import HTTPServer
import RegentCryptography
import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPlatform
import RegentdTestSupport
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccessEnabler

/// Behaviour that porters of apps rely on, with its effect at a service; see docs/entitlement-coverage.md.
@Suite("Conformance with the original API, with a service", .regentd)
struct ToTheLetterRowTests {
  @Test func `a provider selected before getAuthentication skips the picker, and setSelectedProvider nil forgets it`()
    async throws
  {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    let events = enabler.events
    enabler.setSelectedProvider(Sample.provider)
    enabler.getAuthentication()
    let code = try await events.nextCode()
    #expect(recorder.callbacks == ["setRequestorComplete 1"])
    enabler.setSelectedProvider(nil)
    enabler.getSelectedProvider()
    try await recorder.wait(for: "selectedProvider none")
    try await eventually("the code is withdrawn") {
      try await live.state(of: code) == "withdrawn"
    }
    enabler.getAuthentication()
    try await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(nil)
    try await recorder.wait(for: "status N005")
  }

  @Test func `a temporary pass selected beforehand signs in at once, a promotional pass when its data is given`()
    async throws
  {
    let live = try await LiveService()
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    enabler.setSelectedProvider(Sample.promotion)
    enabler.getAuthentication(data: ["email": "a@b.example"])
    try await recorder.wait(for: "setAuthenticationStatus")
    #expect(recorder.callbacks.last == "setAuthenticationStatus 1 ")
    _ = try await enabler.authorize("anything")
    let other = Recorder()
    let second = try await live.enabler(delegate: other)
    second.setSelectedProvider(Sample.pass)
    try await other.wait(for: "setAuthenticationStatus 1")
    _ = try await second.authorize("anything")
    #expect(!other.lines.contains { $0.hasPrefix("displayProviderDialog") })
  }

  @Test func `two enablers on one store that sign in together show one code`() async throws {
    let live = try await LiveService()
    for round in 0..<4 {
      try await withTemporaryFolder { folder in
        let storage = TokenStorage.folder("\(folder)/state")
        let both = [try await live.enabler(storage), try await live.enabler(storage)]
        let streams = both.map(\.events)
        let signIns = both.map { enabler in
          Task { try await enabler.authenticate(.provider(Sample.provider)) }
        }
        var codes: Set<String> = []
        for stream in streams { codes.insert(try await stream.nextCode()) }
        let code = try #require(codes.count == 1 ? codes.first : nil, "round \(round): \(codes)")
        try await live.approve(code)
        for signIn in signIns {
          #expect(try await signIn.value("the sign-in").provider.id == Sample.provider)
        }
      }
    }
  }

  @Test func `an app that was killed shows the same code when the viewer selects the same provider`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      let storage = TokenStorage.folder("\(folder)/state")
      func code() async throws -> String {
        let recorder = Recorder()
        let enabler = try await live.enabler(storage, delegate: recorder)
        let events = enabler.events
        enabler.getAuthentication()
        try await recorder.wait(for: "displayProviderDialog")
        enabler.setSelectedProvider(Sample.provider)
        return try await events.nextCode()
      }
      let first = try await code()
      #expect(try await code() == first)
      #expect(try await live.state(of: first) == "offered")
    }
  }

  @Test func `a wrong secret is reported as not trusted at any call`() async throws {
    let live = try await LiveService()
    let enabler = try AccessEnabler(
      EnablerConfiguration(
        credentials: .keyPair(publicKey: live.publicKey, secret: Secret("wrong")),
        services: [live.url], storage: .memory))
    await #expect(throws: EntitlementError.self) {
      try await enabler.configure(requestor: live.requestor)
    }
    await #expect {
      try await enabler.authenticate(.provider(Sample.provider))
    } throws: { error in
      (error as? EntitlementError)?.kind == .notTrusted
    }
  }

  @Test func `a service that does not respond delays the others no longer than two seconds`() async throws {
    let live = try await LiveService()
    let held = Locked<[PendingReply]>([])
    let port = try freePort()
    let silence = ClosureHandler { _ in
      .later { pending in held.withLock { $0.append(pending) } }
    }
    let server = try Server([Listener(.network(.loopback, port: port), handler: silence)])
    defer { server.stop(within: .zero) }
    var configuration = live.configuration()
    // The timeout that would apply without the limit of two seconds.
    configuration.timing.configuration = .seconds(3_600)
    let enabler = try AccessEnabler(configuration)
    let services = ["http://127.0.0.1:\(port)", live.url]
    let providers = try await awaiting("the completion") {
      try await enabler.configure(requestor: live.requestor, services: services)
    }
    #expect(providers.count == 3)
    #expect(held.withLock { $0.count } > 0, "the silent service was asked")
  }

  @Test func `a service at another address goes on with the sign-in there`() async throws {
    let tap = Wiretap()
    let live = try await LiveService(through: tap)
    let recorder = Recorder()
    let enabler = try await live.enabler(delegate: recorder)
    try await live.signIn(enabler)
    tap.forget()
    try await enabler.configure(requestor: live.requestor, services: [live.regentd.url])
    #expect(await enabler.currentSignIn() != nil)
    _ = try await enabler.authorize("news")
    #expect(tap.requests.isEmpty, "no request goes to the old address")
  }

  @Test func `the page of a captive portal has an error kind of its own`() async throws {
    let local = try await LocalService { request in
      Response(.ok, type: "text/html", body: Array("<html>Welcome, sign in".utf8))
    }
    let enabler = try AccessEnabler(local.configuration())
    await #expect {
      try await enabler.configure(requestor: local.requestor)
    } throws: { error in
      (error as? EntitlementError)?.kind == .captivePortal
    }
    await local.kill()
  }

  @Test func `resource names with commas and fragments are sent unchanged`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    try await enabler.authenticate(.provider(Sample.pass))
    let fragment =
      #"<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>a, b</title></channel></rss>"#
    for asked in [["Hello, World"], ["Hello, World", "news"], [fragment, "news"], ["a", "b"]] {
      #expect(try await enabler.preauthorize(asked) == asked)
    }
  }

  @Test func `unknown options are sent as given and cannot override the call's own parameters`() async throws {
    let tap = Wiretap()
    let live = try await LiveService(through: tap)
    let enabler = try await live.enabler()
    tap.forget()
    enabler.setOptions([
      "tier": 3, "partner": "acme", "isBeta": true, "requestor": "SOMEBODY", "visitorID": 42,
      "device_info": #"{"model":"Box 9","screen":1080}"#,
    ])
    try await live.signIn(enabler)
    let requests = tap.requests
    #expect(requests.count >= 2)
    for request in requests {
      for option in ["tier=3", "partner=acme", "isBeta=true"] {
        #expect(request.requestLine.contains(option))
      }
      #expect(!request.requestLine.contains("SOMEBODY"))
      #expect(request.header("AP-Visitor-Identifier") == "42")
      let device = try JSONValue(reading: Base64.decode(request.header("X-Device-Info") ?? ""))
      #expect(device["screen"]?.int64 == 1080 && device["model"]?.string == "Box 9")
    }
  }

  @Test func `an app that names no service uses the one in the box's configuration`() async throws {
    let live = try await LiveService()
    try await withTemporaryFolder { folder in
      try PrivateDirectory.ensure("\(folder)/regent")
      try writeFile(
        "\(folder)/regent/agent.conf", "# ours\nrequestor = X\nservice = \(live.url)\n".utf8, mode: 0o644)
      let found = DefaultServices.find(["XDG_CONFIG_HOME": folder], machine: "/nowhere")
      #expect(found == [live.url])
      let given = DefaultServices.find(
        ["XDG_CONFIG_HOME": folder, "REGENT_SERVICE": "https://a.example"], machine: "/nowhere")
      #expect(given == ["https://a.example"])
      var configuration = live.configuration()
      configuration.services = found
      let enabler = try AccessEnabler(configuration)
      #expect(try await enabler.configure(requestor: live.requestor).count == 3)
      // A file with CRLF line endings is read, too.
      try writeFile("\(folder)/crlf.conf", "# x\r\nservice = https://a.example\r\nservice = https://b.example\r\n".utf8)
      #expect(
        DefaultServices.find(["HOME": "/nowhere"], machine: "\(folder)/crlf.conf")
          == ["https://a.example", "https://b.example"])
      // A file that other users may write is ignored.
      try writeFile("\(folder)/regent/agent.conf", "service = \(live.url)\n".utf8, mode: 0o666)
      #expect(DefaultServices.find(["XDG_CONFIG_HOME": folder], machine: "/nowhere").isEmpty)
      // An unsafe first file does not fall back to the machine's file, but a missing one does.
      try writeFile("\(folder)/machine.conf", "service = https://machine.example\n".utf8, mode: 0o644)
      #expect(DefaultServices.find(["XDG_CONFIG_HOME": folder], machine: "\(folder)/machine.conf").isEmpty)
      #expect(
        DefaultServices.find(["XDG_CONFIG_HOME": "\(folder)/none"], machine: "\(folder)/machine.conf")
          == ["https://machine.example"])
    }
    // Without any service the error says in which file to name one.
    let nowhere = try AccessEnabler(softwareStatement: "statement", storage: .memory)
    await #expect {
      try await nowhere.configure(requestor: "SPORT")
    } throws: { error in
      (error as? EntitlementError)?.hint?.contains("agent.conf") == true
    }
  }

  // MARK: Swift concurrency

  @Test func `a delegate on the main actor gets its callbacks there, in order`() async throws {
    let live = try await LiveService()
    let screen = MainScreen()
    let enabler = try await live.enabler(delegate: screen)
    enabler.checkAuthentication()
    enabler.getSelectedProvider()
    try await eventually("the callbacks") { await screen.lines.count == 3 }
    #expect(await screen.lines == ["complete", "status", "selected"])
    withExtendedLifetime(enabler) {}
  }

  @Test func `the progress of a sign-in reaches only its own call, on the caller's actor`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    let steps = try await awaiting("the steps") { try await Self.stepsOnMainActor(enabler, live) }
    #expect(steps.first == "code" && steps.last == "in", "\(steps)")
    // Events of another call do not reach this one.
    let other = Task { try await enabler.authenticate(.provider(Sample.pass), isForced: true) }
    _ = try await other.value("the pass")
    var heard: [EntitlementEvent] = []
    _ = try await enabler.authenticate { heard.append($0) }
    #expect(
      heard.allSatisfy { event in
        switch event {
        case .setAuthenticationStatus, .sendTrackingData: true
        default: false
        }
      }, "\(heard)")
  }

  @MainActor private static func stepsOnMainActor(
    _ enabler: AccessEnabler, _ live: LiveService
  ) async throws -> [String] {
    var lines: [String] = []
    var steps = enabler.signIn(.provider(Sample.provider)).makeAsyncIterator()
    while let step = try await steps.next(isolation: #isolation) {
      switch step {
      case .progress(.registrationCode(let offer)):
        lines.append("code")
        try await live.approve(offer.code)
      case .signedIn: lines.append("in")
      default: break
      }
    }
    return lines
  }

  @Test func `leaving the loop over a sign-in's steps cancels the sign-in`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    let given = try await awaiting("a code") {
      var steps = enabler.signIn(.provider(Sample.provider)).makeAsyncIterator()
      while let step = try await steps.next(isolation: nil) {
        if case .progress(.registrationCode(let offer)) = step { return offer.code }
      }
      return ""
    }
    try await eventually("the code is withdrawn") {
      try await live.state(of: given) == "withdrawn"
    }
    withExtendedLifetime(enabler) {}
  }

  @Test func `delegates that block do not delay other apps`() async throws {
    let live = try await LiveService()
    let gate = Gate()
    // More delegates than the thread pool has threads.
    let sleepers = (0..<64).map { _ in Sleeper(gate) }
    var enablers: [AccessEnabler] = []
    for sleeper in sleepers {
      let enabler = try AccessEnabler(live.configuration(), delegate: sleeper)
      enabler.setRequestor(live.requestor)
      enablers.append(enabler)
    }
    try await eventually("all delegates to block") { sleepers.allSatisfy { $0.isAsleep.withLock { $0 } } }
    let other = try await awaiting("another app") { try await live.enabler() }
    #expect(await other.currentSignIn() == nil)
    gate.isShut.withLock { $0 = false }
    withExtendedLifetime(enablers) {}
  }

  @Test func `an awaited call ends with an error when no requestor was set`() async throws {
    let enabler = try AccessEnabler(EnablerConfiguration(storage: .memory))
    await #expect {
      _ = try await awaiting("an answer") { try await enabler.authorize("news") }
    } throws: { error in
      (error as? EntitlementError)?.kind == .notConfigured
    }
    #expect(await enabler.currentSignIn() == nil)
  }
}

/// A screen as apps write it today: everything on the main actor, nothing `async`.
@MainActor private final class MainScreen: EntitlementDelegate {
  var lines: [String] = []

  func setRequestorComplete(_ status: EnablerStatus) { lines.append("complete") }
  func displayProviderDialog(_ providers: [MVPD]) { lines.append("picker") }
  func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) {
    lines.append("status")
  }
  func setToken(_ token: String, forResource resource: String) { lines.append("token") }
  func tokenRequestFailed(_ resource: String, code: EntitlementCode, description: String) {
    lines.append("no token")
  }
  func selectedProvider(_ provider: MVPD?) { lines.append("selected") }
}

/// Delegates block while it is shut.
private final class Gate: Sendable {
  let isShut = Locked(true)
}

/// A delegate that blocks its thread in the first callback while the gate is shut.
private final class Sleeper: EntitlementDelegate {
  let isAsleep = Locked(false)
  private let gate: Gate

  init(_ gate: Gate) { self.gate = gate }

  func setRequestorComplete(_ status: EnablerStatus) {
    isAsleep.withLock { $0 = true }
    while gate.isShut.withLock({ $0 }) { pass(milliseconds: 10) }
  }
  func displayProviderDialog(_ providers: [MVPD]) {}
  func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) {}
  func setToken(_ token: String, forResource resource: String) {}
  func tokenRequestFailed(_ resource: String, code: EntitlementCode, description: String) {}
}
