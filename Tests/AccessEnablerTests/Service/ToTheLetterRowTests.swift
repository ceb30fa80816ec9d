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

/// What somebody who ports an app expects, with its effect at a service; see docs/entitlement-coverage.md.
@Suite("To the letter, with a service", .regentd)
struct ToTheLetterRowTests {
  @Test func `a provider chosen beforehand skips the picker, and going back forgets it`() async throws {
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
    try await eventually("the code is given back") {
      try await live.state(of: code) == "withdrawn"
    }
    enabler.getAuthentication()
    try await recorder.wait(for: "displayProviderDialog")
    enabler.setSelectedProvider(nil)
    try await recorder.wait(for: "status N005")
  }

  @Test func `a pass chosen beforehand lets in at once, a promotion with the data`() async throws {
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

  @Test func `two on one store that sign in together show one code`() async throws {
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

  @Test func `an app that was killed shows the same code when the viewer chooses the same`() async throws {
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

  @Test func `a wrong secret is not trusted at any call`() async throws {
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

  @Test func `a service that says nothing delays the others no longer than two seconds`() async throws {
    let live = try await LiveService()
    let held = Locked<[PendingReply]>([])
    let port = try freePort()
    let silence = ClosureHandler { _ in
      .later { pending in held.withLock { $0.append(pending) } }
    }
    let server = try Server([Listener(.network(.loopback, port: port), handler: silence)])
    defer { server.stop(within: .zero) }
    var configuration = live.configuration()
    // Without the rule it would take so long.
    configuration.timing.configuration = .seconds(3_600)
    let enabler = try AccessEnabler(configuration)
    let services = ["http://127.0.0.1:\(port)", live.url]
    let providers = try await awaiting("the completion") {
      try await enabler.configure(requestor: live.requestor, services: services)
    }
    #expect(providers.count == 3)
    #expect(held.withLock { $0.count } > 0, "the silent one was asked")
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
    #expect(tap.requests.isEmpty, "nobody calls the old address")
  }

  @Test func `a guest network's page has a kind of its own`() async throws {
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

  @Test func `names with commas and fragments are asked for as they are`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    try await enabler.authenticate(.provider(Sample.pass))
    let fragment =
      #"<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>a, b</title></channel></rss>"#
    for asked in [["Hello, World"], ["Hello, World", "news"], [fragment, "news"], ["a", "b"]] {
      #expect(try await enabler.preauthorize(asked) == asked)
    }
  }

  @Test func `unknown options and numbers go along as given, and cannot speak for the call`() async throws {
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

  @Test func `the service of the box is the one of an app that names none`() async throws {
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
      // A file of another system is read line by line, too.
      try writeFile("\(folder)/crlf.conf", "# x\r\nservice = https://a.example\r\nservice = https://b.example\r\n".utf8)
      #expect(
        DefaultServices.find(["HOME": "/nowhere"], machine: "\(folder)/crlf.conf")
          == ["https://a.example", "https://b.example"])
      // What others may write is not believed.
      try writeFile("\(folder)/regent/agent.conf", "service = \(live.url)\n".utf8, mode: 0o666)
      #expect(DefaultServices.find(["XDG_CONFIG_HOME": folder], machine: "/nowhere").isEmpty)
      // Nor is the machine's in its place: the first file counts alone. One that is not there does not count.
      try writeFile("\(folder)/machine.conf", "service = https://machine.example\n".utf8, mode: 0o644)
      #expect(DefaultServices.find(["XDG_CONFIG_HOME": folder], machine: "\(folder)/machine.conf").isEmpty)
      #expect(
        DefaultServices.find(["XDG_CONFIG_HOME": "\(folder)/none"], machine: "\(folder)/machine.conf")
          == ["https://machine.example"])
    }
    // Without any, the error says where to name one.
    let nowhere = try AccessEnabler(softwareStatement: "statement", storage: .memory)
    await #expect {
      try await nowhere.configure(requestor: "SPORT")
    } throws: { error in
      (error as? EntitlementError)?.hint?.contains("agent.conf") == true
    }
  }

  // MARK: Today's Swift

  @Test func `a class of the main actor hears its callbacks there, in order`() async throws {
    let live = try await LiveService()
    let screen = MainScreen()
    let enabler = try await live.enabler(delegate: screen)
    enabler.checkAuthentication()
    enabler.getSelectedProvider()
    try await eventually("the callbacks") { await screen.lines.count == 3 }
    #expect(await screen.lines == ["complete", "status", "selected"])
    withExtendedLifetime(enabler) {}
  }

  @Test func `the steps of a sign-in are heard by their own call alone, where the caller runs`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    let steps = try await awaiting("the steps") { try await Self.stepsOnMainActor(enabler, live) }
    #expect(steps.first == "code" && steps.last == "in", "\(steps)")
    // Somebody else's call says nothing to this one.
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

  @Test func `whoever stops reading the steps cancels the sign-in`() async throws {
    let live = try await LiveService()
    let enabler = try await live.enabler()
    let given = try await awaiting("a code") {
      var steps = enabler.signIn(.provider(Sample.provider)).makeAsyncIterator()
      while let step = try await steps.next(isolation: nil) {
        if case .progress(.registrationCode(let offer)) = step { return offer.code }
      }
      return ""
    }
    try await eventually("the code is given back") {
      try await live.state(of: given) == "withdrawn"
    }
    withExtendedLifetime(enabler) {}
  }

  @Test func `delegates that sleep starve nobody`() async throws {
    let live = try await LiveService()
    let gate = Gate()
    // More than there are threads in the pool of any machine that runs this.
    let sleepers = (0..<64).map { _ in Sleeper(gate) }
    var enablers: [AccessEnabler] = []
    for sleeper in sleepers {
      let enabler = try AccessEnabler(live.configuration(), delegate: sleeper)
      enabler.setRequestor(live.requestor)
      enablers.append(enabler)
    }
    try await eventually("all sleep") { sleepers.allSatisfy { $0.isAsleep.withLock { $0 } } }
    let other = try await awaiting("another app") { try await live.enabler() }
    #expect(await other.currentSignIn() == nil)
    gate.isShut.withLock { $0 = false }
    withExtendedLifetime(enablers) {}
  }

  @Test func `a call that somebody waits for ends, also without a requestor`() async throws {
    let enabler = try AccessEnabler(EnablerConfiguration(storage: .memory))
    await #expect {
      _ = try await awaiting("an answer") { try await enabler.authorize("news") }
    } throws: { error in
      (error as? EntitlementError)?.kind == .notConfigured
    }
    #expect(await enabler.currentSignIn() == nil)
  }
}

/// A screen as apps write them today: everything on the main actor, nothing `async`.
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

/// Shut, so that delegates wait in front of it.
private final class Gate: Sendable {
  let isShut = Locked(true)
}

/// A delegate that blocks its thread in the first callback for as long as the gate is shut.
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
