import AccessEnabler
import PairingService
import PairingStore
import RegentJSON
import RegentPairing
import RegentPairingWire
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

/// Two Unix users whose programs are apps, and one whose programs are not.
enum AppUser {
  static let first: UInt32 = 12_345
  static let second: UInt32 = 12_346
  static let stranger: UInt32 = 12_347
}

/// Runs `body` with a service that has a box maker, and with a box whose agent.conf has these lines.
func withPlatformBox(
  _ lines: String..., environment: [String: String] = [:], body: (PlatformBox) async throws -> Void
) async throws {
  let service = try await BoxService()
  defer { service.stop() }
  try await service.makeBoxMaker()
  try await withTemporaryFolder { folder in
    let box = try await PlatformBox(folder, service, lines, environment)
    defer { box.kill() }
    try await body(box)
  }
}

/// A box whose daemon serves apps.
final class PlatformBox {
  let folder: String
  let service: BoxService
  private let box: Box
  private var daemon: RunningProgram?

  var socket: String { "\(folder)/regent/agent.sock" }
  var environment: [String: String] { box.environment }

  init(
    _ folder: String, _ service: BoxService, _ lines: [String], _ environment: [String: String]
  ) async throws {
    self.folder = folder
    self.service = service
    try writeFile("\(folder)/maker", BoxMaker.secret.utf8)
    box = try Box(
      folder, service.url,
      more: [
        "REGENT_REQUESTOR": BoxMaker.id, "REGENT_PUBLIC_KEY": BoxMaker.publicKey,
        "REGENT_SECRET_FILE": "\(folder)/maker",
      ].merging(environment) { $1 })
    try writeFile("\(folder)/agent.conf", (lines.joined(separator: "\n") + "\n").utf8)
    _ = try await box.shell("chmod 711 .")
    try await start()
  }

  func start() async throws {
    try writeFile("\(folder)/daemon.err", [])
    daemon = try box.start(["daemon", "--config", "\(folder)/agent.conf"], output: "daemon")
    try await box.daemonListens()
  }

  func stop(signal: Int32) async throws {
    guard let program = daemon else { return }
    program.signal(signal)
    _ = try await eventually("the end of the daemon") { program.poll() }
  }

  func restart(signal: Int32) async throws {
    try await stop(signal: signal)
    try await start()
  }

  func kill() { daemon?.signal(9) }

  /// Signs the box in; the phone approves.
  func signIn() async throws {
    try writeFile("\(folder)/pair", [])
    let pairing = try box.start(["sso", "sign-in", "--json"], output: "pair")
    guard let wire = try await box.event("code", in: "pair")["code"]?.string else { throw TestSupportError("no code") }
    try await service.service.approve(wire)
    guard try await eventually("the end of signing in", { pairing.poll() }) == 0 else {
      throw TestSupportError("signing in failed: \(text("pair.err"))")
    }
  }

  /// The statuses that an app gets during setRequestor.
  func start(_ enabler: AccessEnabler) async throws -> [StatusID] {
    let heard = Locked<[StatusID]>([])
    let events = enabler.events
    enabler.setRequestor(Sample.requestor)
    return try await events.first("the end of the start") { event in
      switch event {
      case .status(let status):
        heard.withLock { $0.append(status.id) }
        return nil
      case .setRequestorComplete: return heard.withLock { $0 }
      default: return nil
      }
    }
  }

  func run(_ arguments: [String]) async throws -> Finished { try await box.run(arguments) }
  func shell(_ script: String) async throws -> Finished { try await box.shell(script) }
  func text(_ name: String) -> String {
    String(decoding: (try? readFile("\(folder)/\(name)")) ?? [], as: UTF8.self)
  }

  /// Makes a call to the daemon with a program of this user.
  func ask(
    _ call: String, as user: UInt32, _ members: String = "", on socket: String = "regent/agent.sock",
    before: String = ""
  ) async throws -> JSONObject {
    try await AppCall(box: box, members: members, socket: socket, before: before).ask(call, as: user)
  }

  /// A call whose answer the test awaits later.
  func held(_ members: String, wait: Int) -> AppCall { AppCall(box: box, members: members, wait: wait) }

  func permission(of user: UInt32) async throws -> String? { try await ask("status", as: user)["permission"]?.string }

  func startPrompts() throws -> RunningProgram { try box.start(["sso", "prompts", "--json"], output: "prompts") }

  /// Decides as the viewer does on the phone's page "my screens".
  func decideOnPhone(_ app: String, _ isGranted: Bool?) async throws {
    let core = service.service.core
    try await core.boxDecisions.decide(
      PlatformPermissionRecord(
        device: try await device(), app: app, requestor: try named(Sample.requestor), isGranted: isGranted,
        decided: core.clock.now), audit: nil)
  }

  /// The decisions that the service stores for the box's apps.
  func decisionsAtService() async throws -> [String: Bool?] {
    let records = try await service.service.core.store.decisions(of: try await device())
    return Dictionary(records.map { ($0.app, $0.isGranted) }, uniquingKeysWith: { first, _ in first })
  }

  /// Sends the service a decision as a program that has the box maker's key pair and the box's device id.
  ///
  /// - Returns: the status of the reply.
  func decideAsStranger(_ app: String, _ permission: String) async throws -> String {
    let signed = try service.service.signature(
      "POST", Paths.platformPermission, requestor: BoxMaker.id, publicKey: BoxMaker.publicKey, secret: BoxMaker.secret)
    let form = "app=\(app)&appRequestor=\(Sample.requestor)&permission=\(permission)"
    let device = try await signIn().device.text
    return try await shell(
      "curl -sS -o stranger -w '%{http_code}' -H '\(signed.name): \(signed.value)' -d '\(form)' "
        + "'\(service.url)\(Paths.platformPermission)?deviceId=\(device)'"
    ).outputText
  }

  private func device() async throws -> DeviceHash { try await signIn().deviceHash }

  private func signIn() async throws -> AuthenticationRecord {
    let core = service.service.core
    let signIns = try await core.store.authentications(
      AuthenticationFilter(requestor: try named(BoxMaker.id)), after: nil, limit: 1, at: core.clock.now)
    return try #require(signIns.first)
  }

  /// The statuses that an app in the test's process gets during setRequestor.
  func statuses(at socket: String? = nil) async throws -> [StatusID] {
    try await start(try enabler(at: socket))
  }

  func enabler(at socket: String? = nil, storage: TokenStorage = .memory) throws -> AccessEnabler {
    var configuration = EnablerConfiguration(
      credentials: .keyPair(publicKey: Sample.publicKey, secret: Sample.secret), services: [service.url],
      storage: storage)
    configuration.platformAccount = .socket(socket ?? self.socket)
    return try AccessEnabler(configuration)
  }
}

/// A call to the daemon from another user's program.
struct AppCall: Sendable {
  let box: Box
  var members = ""
  var socket = "regent/agent.sock"
  var before = ""
  var wait: Int?

  func ask(_ call: String, as user: UInt32) async throws -> JSONObject {
    let body = "{\(members)\"requestor\":\"\(Sample.requestor)\"}"
    let answer = try await box.shell(
      "setpriv --reuid=\(user) --regid=\(user) --clear-groups \(before) curl -sS --max-time 60 --unix-socket \(socket) "
        + (wait.map { "-H 'Prefer: wait=\($0)' " } ?? "")
        + "-d '\(body)' http://localhost/v1/platform/\(call)")
    guard let document = (try? JSONValue(reading: answer.output))?.object else {
      throw TestSupportError("no answer to \(call): \(answer.outputText) \(answer.errorText)")
    }
    return document
  }
}

/// The box maker's requestor; the platform account is its sign-in.
enum BoxMaker {
  static let id = "BOXMAKER"
  static let publicKey = "makerCalls"
  static let secret = "maker secret"
}

extension BoxService {
  /// Adds the box maker, and enables single sign-on for the sample app and provider.
  func makeBoxMaker() async throws {
    let (store, now) = (service.core.store, service.core.clock.now)
    let provider: ProviderID = try named(Sample.provider)
    func put(_ record: Provision, over seen: Provision? = nil) async throws {
      _ = try await store.put(record, replacing: seen, audit: nil, at: now)
    }
    try await put(.requestor(Requestor(id: try named(BoxMaker.id), name: "Box maker", isPlatform: true)))
    for (id, purpose) in [(BoxMaker.publicKey, KeyPair.Purpose.calls), ("makerRows", .rows)] {
      try await store.add(
        KeyPair(
          publicKey: try named(id), requestor: try named(BoxMaker.id), purpose: purpose,
          secret: StoredSecret(Array(BoxMaker.secret.utf8)), created: now), audit: nil, at: now)
    }
    try await put(.integration(Integration(requestor: try named(BoxMaker.id), provider: provider)))
    let records = try await store.provisioning()
    var supported = try #require(records.providers[provider])
    supported.boarding = .supported
    try await put(.provider(supported), over: records.providers[provider].map { .provider($0) })
    let there = try #require(records.integrations[try named(Sample.requestor)]?[provider])
    var shared = there
    shared.singleSignOn = true
    try await put(.integration(shared), over: .integration(there))
    try await service.core.refreshProvisioning()
  }
}
