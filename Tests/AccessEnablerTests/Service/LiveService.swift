import Cryptography
import HTTPClient
import HTTPCodec
import HTTPServer
import HTTPTestSupport
import Pairing
import PairingService
import PairingStore
import Platform
import ServiceTestSupport
import TestSupport

@testable import AccessEnabler

/// A whole service behind a real socket.
final class LiveService: Sendable {
  let service: TestService
  let url: String
  private let port: UInt16
  private let server: Locked<Server?>

  init(
    gate: (@Sendable (Request) -> Response?)? = nil,
    requestor change: (inout Requestor) -> Void = { _ in }
  ) async throws {
    service = try await TestService(usesMachineClock: true, change)
    let (server, bound) = try Self.start(service, port: 0, gate)
    self.port = bound
    self.server = Locked(server)
    url = "http://127.0.0.1:\(bound)"
  }

  private static func start(
    _ service: TestService, port: UInt16, _ gate: (@Sendable (Request) -> Response?)?
  ) throws -> (Server, UInt16) {
    let router = try service.router()
    let handler = ClosureHandler { request in
      if let response = gate?(request) { return .now(response) }
      return router.handle(request)
    }
    var configuration = ServerConfiguration()
    configuration.loops = 1
    let server = try Server(
      [Listener(.network(.loopback, port: port), handler: handler)], configuration: configuration)
    guard case .network(_, let bound) = server.addresses[0] else {
      throw TestSupportError("no port")
    }
    return (server, bound)
  }

  /// Ends the server in the middle of whatever it does.
  func kill() async {
    let server = server.withLock { server in
      defer { server = nil }
      return server
    }
    guard let server else { return }
    await offPool { server.stop(within: .zero) }
  }

  func startAgain(gate: (@Sendable (Request) -> Response?)? = nil) async throws {
    let server = try Self.start(service, port: port, gate).0
    self.server.withLock { $0 = server }
  }

  /// Changes or adds a record, as an operator does.
  func put(_ record: Provision, replacing old: Provision? = nil) async throws {
    _ = try await service.core.store.put(
      record, replacing: old, audit: nil, at: service.core.clock.now)
    try await service.core.provisioning.refresh()
  }

  /// Lets everybody at the sample provider watch what a pattern names, or nobody.
  func rule(_ pattern: String, _ effect: EntitlementEffect) async throws {
    guard let resources = ResourcePattern(pattern) else { throw TestSupportError("no pattern") }
    try await put(
      .entitlement(
        Entitlement(
          id: try named(Random.uuid()), provider: try named(Sample.provider), scope: .everybody,
          pattern: resources, effect: effect)))
  }

  func degrade(_ degradation: Degradation?) async throws {
    var integration = Integration(
      requestor: try named(Sample.requestor), provider: try named(Sample.provider))
    let old = service.core.provisioning.now.choices[try named(Sample.requestor)]?
      .first { $0.provider.id.text == Sample.provider }?.integration
    integration.degradation = degradation
    try await put(.integration(integration), replacing: old.map { .integration($0) })
  }

  func configuration(_ storage: TokenStorage = .memory) -> EnablerConfiguration {
    var configuration = EnablerConfiguration(
      credentials: .keyPair(publicKey: Sample.publicKey, secret: Secret(Sample.secret)),
      services: [url], storage: storage)
    configuration.timing.poll = .milliseconds(50)
    configuration.timing.longestPause = .milliseconds(200)
    configuration.timing.configuration = .seconds(20)
    return configuration
  }

  /// An enabler of this service, configured.
  func enabler(
    _ storage: TokenStorage = .memory, delegate: (any EntitlementDelegate)? = nil,
    _ change: (inout EnablerConfiguration) -> Void = { _ in }
  ) async throws -> AccessEnabler {
    var configuration = configuration(storage)
    change(&configuration)
    let enabler = try AccessEnabler(configuration, delegate: delegate)
    try await enabler.configure(requestor: Sample.requestor)
    return enabler
  }

  /// Signs an enabler in: the phone says yes as soon as there is a code.
  @discardableResult
  func signIn(
    _ enabler: AccessEnabler, at provider: String = Sample.provider
  ) async throws -> SignIn {
    let (codes, seen) = AsyncStream<String>.makeStream()
    let service = service
    let phone = Task {
      for await code in codes {
        try await service.approve(code)
        break
      }
    }
    let signIn = try await enabler.authenticate(.provider(provider)) { event in
      if case .registrationCode(let offer) = event { seen.yield(offer.code) }
    }
    seen.finish()
    _ = await phone.result
    return signIn
  }
}

/// Writes the callbacks down, in order, and answers the picker.
final class Recorder: EntitlementDelegate {
  private struct State: Sendable {
    var lines: [String] = []
    var waiting: [(text: String, resume: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())
  private let onEvent: @Sendable (String) -> Void

  init(onEvent: @escaping @Sendable (String) -> Void = { _ in }) { self.onEvent = onEvent }

  var lines: [String] { state.withLock { $0.lines } }
  /// Without tracking data and news.
  var callbacks: [String] {
    lines.filter { !$0.hasPrefix("TRACKING") && !$0.hasPrefix("status ") }
  }

  /// Waits until a line with this beginning has come.
  func wait(for text: String) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        guard !state.lines.contains(where: { $0.hasPrefix(text) }) else { return true }
        state.waiting.append((text, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  func forget() { state.withLock { $0.lines = [] } }

  private func note(_ line: String) {
    let ready = state.withLock { state in
      state.lines.append(line)
      let ready = state.waiting.filter { line.hasPrefix($0.text) }
      state.waiting.removeAll { line.hasPrefix($0.text) }
      return ready
    }
    for one in ready { one.resume.resume() }
    onEvent(line)
  }

  func setRequestorComplete(_ status: EnablerStatus) {
    note("setRequestorComplete \(status.rawValue)")
  }
  func displayProviderDialog(_ providers: [MVPD]) {
    note("displayProviderDialog \(providers.map(\.id).joined(separator: ","))")
  }
  func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) {
    note("setAuthenticationStatus \(status.rawValue) \(code.rawValue)")
  }
  func setToken(_ token: String, forResource resource: String) {
    note("setToken \(resource) \(token.prefix(15))")
  }
  func tokenRequestFailed(_ resource: String, code: EntitlementCode, description: String) {
    note("tokenRequestFailed \(resource) \(code.rawValue) \(description)")
  }
  func status(_ status: EntitlementStatus) {
    note("status \(status.id) \(status.message)")
  }
  func navigateToUrl(_ url: String) { note("navigateToUrl \(url)") }
  func navigateToUrl(_ url: String, useSVC: Bool) { note("navigateToUrl SVC \(url)") }
  func preauthorizedResources(_ resources: [String]) {
    note("preauthorizedResources \(resources.joined(separator: ","))")
  }
  func selectedProvider(_ provider: MVPD?) { note("selectedProvider \(provider?.id ?? "none")") }
  func setMetadataStatus(
    _ value: MetadataValue?, encrypted: Bool, forKey key: String, arguments: [String: String]
  ) {
    note("setMetadataStatus \(key) \(value.map { "\($0)" } ?? "none") \(encrypted)")
  }
  func sendTrackingData(_ data: [String], forEvent event: TrackingEvent) {
    note("\(event.name) \(data.joined(separator: "|"))")
  }
}
