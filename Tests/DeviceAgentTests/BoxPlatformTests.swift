import AccessEnabler
import PairingService
import PairingStore
import RegentJSON
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

/// The platform account between programs: a real daemon, apps that are Unix users, the SDK in this process.
@Suite(.enabled(if: Accounts.effectiveUser == 0 && installedProgram("setpriv") != nil))
struct `The platform account between programs` {
  private static let first: UInt32 = 12_345
  private static let second: UInt32 = 12_346
  private static let stranger: UInt32 = 12_347

  @Test func `two users are two apps, a third is nobody, and a decision counts at once`() async throws {
    try await withDaemon(
      "app = one user:\(Self.first) requestor:REF30", "app = two user:\(Self.second) requestor:REF30",
      "app = nobody user:65534 requestor:REF30", "app = own requestor:REF30 socket:own user:\(Self.first)"
    ) { (box: PlatformBox) async throws in
      #expect(try await box.ask("status", as: Self.first)["permission"] == "undetermined")
      #expect(try await box.ask("status", as: Self.stranger)["error"]?["code"] == "not-an-app")
      #expect(try await box.ask("status", as: 65_534)["error"]?["code"] == "not-an-app", "overflow ids are nobody")
      #expect(try await box.run(["sso", "grant", "one"]).status == 0)
      #expect(try await box.ask("status", as: Self.first)["permission"] == "granted")
      #expect(try await box.ask("status", as: Self.second)["permission"] == "undetermined")
      // Another's name is not heard: who asks is the kernel's word.
      let claimed = try await box.ask("status", as: Self.second, #""app":"one","#)
      #expect(claimed["app"] == "two" && claimed["permission"] == "undetermined")
      #expect(try await box.run(["sso", "deny", "two"]).status == 0)
      #expect(try await box.ask("access", as: Self.second, #""prompt":true,"#)["prompt"] == "decided")
      // The socket of its own is that app's.
      let own = "regent/apps/own.sock"
      #expect(try await box.ask("status", as: Self.first, on: own)["app"] == "own")
      #expect(try await box.ask("status", as: Self.second, on: own)["error"]?["code"] == "not-an-app")
      let listed = try await box.run(["sso", "permissions", "--json"])
      #expect(try JSONValue(reading: listed.output).array?.count == 4)
      let doctor = try await box.run(["doctor"])
      #expect(doctor.outputText.contains("user \(Self.stranger) asked 1 times for REF30 and is no app"))
      #expect(try await box.run(["sso", "grant", "nobody-of-that-name"]).status == 2)
    }
  }

  @Test func `a process in a user namespace is its user outside`() async throws {
    try await withDaemon("app = one user:\(Self.first) requestor:REF30") { (box: PlatformBox) async throws in
      let inside = try await box.shell(
        "setpriv --reuid=\(Self.first) --regid=\(Self.first) --clear-groups unshare -U true 2>/dev/null && echo yes || true"
      )
      guard inside.outputText == "yes\n" else { return }
      #expect(try await box.ask("status", as: Self.first, before: "unshare -U")["app"] == "one")
      #expect(try await box.ask("status", as: Self.first, before: "unshare -Ur")["app"] == "one", "not root")
      let code = try await box.ask("status", as: Self.stranger, before: "unshare -Ur")["error"]?["code"]
      #expect(code == "not-an-app", "who is root inside is nobody here")
    }
  }

  @Test func `decisions stay over a kill of the daemon`() async throws {
    try await withDaemon("app = one user:\(Self.first) requestor:REF30") { (box: PlatformBox) async throws in
      #expect(try await box.run(["sso", "grant", "one"]).status == 0)
      try await box.restart(signal: 9)
      #expect(try await box.ask("status", as: Self.first)["permission"] == "granted")
      // What cannot be written does not count: a folder where the file should go.
      _ = try await box.shell("rm state/platform/permissions && mkdir -m 700 state/platform/permissions")
      let denied = try await box.run(["sso", "deny", "one"])
      #expect(denied.status == 1 && denied.errorText.contains("could not be kept"))
      #expect(try await box.ask("status", as: Self.first)["permission"] == "granted")
    }
  }

  @Test func `the SDK hears how it stands, at each start`() async throws {
    try await withDaemon("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      #expect(try await box.statuses() == [.permissionUndetermined])
      #expect(try await box.run(["sso", "deny", "probe"]).status == 0)
      #expect(try await box.statuses() == [.permissionDenied])
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      #expect(try await box.statuses() == [], "nobody is signed in on the box: silence")
      let account = try #require(PlatformAccount(requestor: "REF30", at: .socket(box.socket)))
      #expect(try await account.status() == PlatformStatus(permission: .granted, isSignedIn: false))
      #expect(try await account.access(prompt: true) == .granted)
      let other = try #require(PlatformAccount(requestor: "NEWS", at: .socket(box.socket)))
      #expect(try await other.status() == nil)
      // A socket that nobody listens on any more.
      try await box.stop(signal: 9)
      #expect(try await box.statuses() == [.platformAccount])
      #expect(PlatformAccount(requestor: "REF30", at: .socket("\(box.folder)/nothing")) == nil)
    }
  }

  @Test func `one sign-in on the box, and its apps are in by themselves`() async throws {
    try await withDaemon("app = probe user:0 requestor:REF30", "app = one user:\(Self.first) requestor:REF30") {
      (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      let enabler = try box.enabler(storage: .folder("\(box.folder)/app"))
      #expect(try await box.start(enabler) == [])
      let signIn = try #require(await enabler.currentSignIn())
      #expect(signIn.source == .platform && signIn.provider.id == Sample.provider)
      let source = try await enabler.metadata(.user("tokenSource"))
      #expect(source.value == .text("platform"))
      // Coming to the front again fetches what is there.
      #expect(try await box.start(enabler) == [])
      #expect(await enabler.currentSignIn() == signIn)
      // A second installation of the same app is in without a step; the user without permission is not.
      let second = try box.enabler(storage: .folder("\(box.folder)/second"))
      #expect(try await box.start(second) == [])
      #expect(await second.currentSignIn()?.source == .platform)
      let word = try await box.ask("account", as: Self.first)
      #expect(word["error"]?["code"] == "undetermined")
      // The viewer changes their mind: at once, and the service hears of it.
      #expect(try await box.run(["sso", "deny", "probe"]).status == 0)
      #expect(await enabler.currentSignIn() == nil)
      try await eventually("the service ends what came from the box") {
        (try? await second.metadata(.user("tokenSource"))) == nil
      }
      #expect(try await box.start(enabler) == [.permissionDenied])
      // And again: the next start exchanges anew.
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      try await eventually("the app is in again") {
        _ = try await box.start(enabler)
        return await enabler.currentSignIn() != nil
      }
    }
  }

  @Test func `signing out says that the box is still in, and the box's sign-out ends its apps`() async throws {
    try await withDaemon("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      let enabler = try box.enabler()
      #expect(try await box.start(enabler) == [])
      let told = Locked<[String]>([])
      let events = enabler.events
      enabler.logout()
      let heard = try await events.first("both answers") { event in
        if case .status(let status) = event { told.withLock { $0.append(status.id.rawValue) } }
        if case .setAuthenticationStatus(let status, _) = event { told.withLock { $0.append("\(status.rawValue)") } }
        return told.withLock { $0.count == 2 ? $0 : nil }
      }
      #expect(heard.sorted() == ["0", "VSA203"])
      #expect(try await box.start(enabler) == [])
      #expect(await enabler.currentSignIn() != nil, "the next start signs in again")
      let out = try await box.run(["sso", "sign-out"])
      #expect(out.outputText.contains("probe"))
      #expect(await enabler.currentSignIn() == nil)
      #expect(try await box.start(enabler) == [])
      #expect(await enabler.currentSignIn() == nil)
    }
  }

  @Test func `a state folder that was copied to another machine is worth nothing`() async throws {
    try await withDaemon("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      try await box.signIn()
      #expect(try await box.run(["sso", "grant", "probe"]).status == 0)
      #expect(try await box.start(try box.enabler()) == [])
      let key = try #require((try JSONValue(reading: try readFile("\(box.folder)/state/platform/key"))).object)
      let mark = try #require(key["signIn"]?.string)
      try writeFile("\(box.folder)/machine", "another machine".utf8)
      let there = try BoxKeyFile(folder: "\(box.folder)/state/platform", machineIDFile: "\(box.folder)/machine")
      #expect(try there.key(of: mark) == nil)
      #expect(try BoxKeyFile(folder: "\(box.folder)/state/platform").key(of: mark) != nil, "here it opens")
    }
  }

  @Test func `a listener that is not the agent learns nothing and decides nothing`() async throws {
    try await withDaemon("app = probe user:0 requestor:REF30") { (box: PlatformBox) async throws in
      let script = """
        import os, socket
        s = socket.socket(socket.AF_UNIX)
        s.bind("false/agent.sock")
        os.chmod("false/agent.sock", 0o666)
        s.listen()
        print("ready", flush=True)
        while True:
            c, _ = s.accept()
            print("heard", len(c.recv(1000)), flush=True)
            body = b'{"version":1,"permission":"granted","signedIn":true,"provider":"local"}'
            c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
            c.close()
        """
      try writeFile("\(box.folder)/false.py", script.utf8, mode: 0o644)
      _ = try await box.shell("mkdir -m 755 false && chown \(Self.first) false")
      let listener = try RunningProgram(
        "setpriv",
        [
          "--reuid=\(Self.first)", "--regid=\(Self.first)", "--clear-groups", "sh", "-c",
          "cd \(box.folder) && python3 false.py",
        ],
        environment: box.environment, standardOutput: "\(box.folder)/false.out",
        standardError: "\(box.folder)/false.err")
      defer { listener.signal(9) }
      try await eventually("the false daemon") { box.text("false.out").contains("ready") }
      #expect(try await box.statuses(at: "\(box.folder)/false/agent.sock") == [.platformAccount])
      #expect(box.text("false.out") == "ready\nheard 0\n" || box.text("false.out") == "ready\n")
    }
  }

  private func withDaemon(_ lines: String..., body: (PlatformBox) async throws -> Void) async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await service.makeBoxMaker()
    try await withTemporaryFolder { folder in
      let box = try await PlatformBox(folder, service, lines)
      defer { box.kill() }
      try await body(box)
    }
  }
}

/// A box whose daemon has apps.
final class PlatformBox {
  let folder: String
  let service: BoxService
  private let box: Box
  private var daemon: RunningProgram?

  var socket: String { "\(folder)/regent/agent.sock" }
  var environment: [String: String] { box.environment }

  init(_ folder: String, _ service: BoxService, _ lines: [String]) async throws {
    self.folder = folder
    self.service = service
    try writeFile("\(folder)/maker", BoxMaker.secret.utf8)
    box = try Box(
      folder, service.url,
      more: [
        "REGENT_REQUESTOR": BoxMaker.id, "REGENT_PUBLIC_KEY": BoxMaker.publicKey,
        "REGENT_SECRET_FILE": "\(folder)/maker",
      ])
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

  /// Signs the box in with a phone.
  func signIn() async throws {
    try writeFile("\(folder)/pair", [])
    let pairing = try box.start(["sso", "sign-in", "--json"], output: "pair")
    guard let wire = try await box.event("code", in: "pair")["code"]?.string else { throw TestSupportError("no code") }
    try await service.service.approve(wire)
    guard try await eventually("the end of signing in", { pairing.poll() }) == 0 else {
      throw TestSupportError("signing in failed: \(text("pair.err"))")
    }
  }

  /// What an app is told at a start.
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

  /// Asks the daemon as a user, with a program of nobody's.
  func ask(
    _ call: String, as user: UInt32, _ members: String = "", on socket: String = "regent/agent.sock",
    before: String = ""
  ) async throws -> JSONObject {
    let body = "{\(members)\"requestor\":\"\(Sample.requestor)\"}"
    let answer = try await box.shell(
      "setpriv --reuid=\(user) --regid=\(user) --clear-groups \(before) curl -sS --max-time 20 --unix-socket \(socket) "
        + "-d '\(body)' http://localhost/v1/platform/\(call)")
    guard let document = (try? JSONValue(reading: answer.output))?.object else {
      throw TestSupportError("no answer to \(call): \(answer.outputText) \(answer.errorText)")
    }
    return document
  }

  /// What an app of this process is told at its start, besides that it is configured.
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

/// The box maker at the service, whose sign-in is the platform account.
enum BoxMaker {
  static let id = "BOXMAKER"
  static let publicKey = "makerCalls"
  static let secret = "maker secret"
}

extension BoxService {
  /// Adds the box maker, and lets the sample app and provider take part.
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
    try await service.core.provisioning.refresh()
  }
}
