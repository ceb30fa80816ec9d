// FuzzSocket: calls on the daemon's socket, with a new box for each input. Every call ends with JSON and a documented
// status. A caller that is not an app gets no data, and only an app that the viewer allowed gets the box assertion, the
// viewer's name or the provider.

import AccessEnabler
import CommandKit
import FuzzSupport
import HTTPServer
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

@testable import DeviceAgent

#if canImport(Glibc)
  import Glibc
#endif

/// Fuzzes one input: up to 16 calls, one a line.
///
/// The first byte of a line chooses the caller, the second one the call; the rest is the body.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let lines = unsafe bytes(start, count).split(separator: UInt8(ascii: "\n"), maxSplits: 15)
  guard let box = FuzzedBox(), !lines.isEmpty else { return 0 }
  for line in lines where line.count >= 2 { box.take(Array(line)) }
  return 0
}

/// The local user that calls.
enum Asker: Int, CaseIterable {
  case owner, first, second, launcher, stranger, nobody

  var user: UInt32 {
    switch self {
    case .owner: 0
    case .first: 5_001
    case .second: 5_002
    case .launcher: 5_003
    case .stranger: 5_004
    case .nobody: 65_534
    }
  }
  /// The app that `agent.conf` makes of this user.
  var app: String? {
    switch self {
    case .first: "first"
    case .second: "second"
    default: nil
    }
  }
}

private let calls = [
  "platform/status", "platform/access", "platform/account", "platform/picker", "platform/sign-out", "sso/status",
  "sso/decide", "sso/prompts", "sso/dismiss", "sso/sign-out", "pair/begin", "pair/code", "pair/news", "pair/withdraw",
  "preauthorize", "authorize", "metadata", "header", "logout", "alive",
]
private let statuses: Set<Int> = [200, 400, 403, 404, 405, 413, 422, 503]
private let refused: Set<Int> = [400, 403, 404, 405]
private let requestors = ["ACME", "SPORT"]

/// A daemon without a socket; its account, tokens and service are in memory.
private final class FuzzedBox {
  private let permissions: PermissionStore
  private let router: Router
  private let ownRouter: Router

  init?() {
    let folder = "/dev/shm/regent-fuzz-\(getpid())"
    _ = unsafe unlink("\(folder)/permissions")
    let lines = [
      "first user:\(Asker.first.user) requestor:ACME",
      "second user:\(Asker.second.user) requestor:ACME requestor:SPORT",
      "second user:\(Asker.second.user) requestor:ACME socket:second",
      "nobody user:\(Asker.nobody.user) requestor:ACME",
    ]
    do {
      try PrivateDirectory.ensure(folder)
      permissions = try PermissionStore(folder: folder)
      let pairing = PairHost { _ throws(CommandError) in FuzzedLink() }
      let parts = PlatformParts(
        host: PlatformHost(permissions, FuzzedAccount()),
        apps: AppBook(try lines.map { try AppRule(parsing: $0, in: "fuzz") }),
        boxSignIn: BoxSignIn(pairing, owner: 0))
      let server = DaemonServer(
        FuzzedSource(),
        allowRules: [try AllowRule(parsing: "user:\(Asker.launcher.user) status token=free-* pair", in: "fuzz")],
        owner: 0, pairing: pairing, platform: parts, report: { _ in })
      router = try server.router()
      ownRouter = try server.router(ofApp: "second")
    } catch {
      broken("the daemon can be set up", "\(error)")
    }
  }

  func take(_ line: [UInt8]) {
    let (who, what) = (Int(line[0]), Int(line[1]))
    let asker = Asker.allCases[who % Asker.allCases.count]
    let isOwnSocket = who / Asker.allCases.count % 4 == 3
    let call = calls[what % calls.count]
    let isGet = what / calls.count % 4 == 3
    let target = isGet ? ["status", "providers"][what % 2] : call
    guard
      let request = try? Request(
        head: Array("\(isGet ? "GET" : "POST") /v1/\(target) HTTP/1.1\r\nHost: box\r\n\r\n".utf8),
        body: body(Array(line[2...]), of: call),
        peer: .local(Credentials(process: 1, user: asker.user, group: asker.user)))
    else { return }
    let response = answer(to: request, isOwnSocket ? ownRouter : router, "\(asker) \(target)")
    check(response, of: target, isOwnSocket ? "second" : nil, by: asker)
  }

  /// Sets `wait` to 0 in calls that can wait, because an input must not take time.
  private func body(_ bytes: [UInt8], of call: String) -> [UInt8] {
    guard ["pair/news", "platform/picker", "sso/prompts"].contains(call),
      var object = (try? JSONValue(reading: bytes))?.object
    else { return bytes }
    if (object["wait"]?.int64 ?? 1) >= 0 { object["wait"] = .integer(0) }
    return JSONValue.object(object).bytes()
  }

  private func answer(to request: Request, _ router: Router, _ what: String) -> Response {
    switch router.handle(request) {
    case .now(let response): return response
    case .later(let start):
      let given = Locked<Response?>(nil)
      start(PendingReply { response in given.withLock { $0 = response } })
      let end = Clocks.bootNanoseconds() + 5_000_000_000
      while Clocks.bootNanoseconds() < end {
        if let response = given.withLock({ $0 }) { return response }
        usleep(20)
      }
      broken("every call ends", what)
    }
  }

  // MARK: - Promises

  private func check(_ response: Response, of target: String, _ socket: String?, by asker: Asker) {
    let status = Int(response.status.rawValue)
    let text = String(decoding: response.body, as: UTF8.self)
    promise("the status is documented", statuses.contains(status), "\(status) \(target)")
    guard let document = try? JSONValue(reading: response.body) else { broken("the answer is JSON", target, text) }
    if target.hasPrefix("platform/") {
      promise(
        "a caller that is not an app is refused", asker.app != nil || refused.contains(status),
        "\(asker) \(status) \(text)")
      checkSecrets(document, by: asker, text)
    }
    if target.hasPrefix("sso/") {
      promise(
        "a caller that is not the owner is refused", asker == .owner || refused.contains(status),
        "\(asker) \(status) \(text)")
      promise("an app's own socket does not offer the settings", socket == nil || status == 404, "\(status) \(target)")
    }
    if target == "authorize", status == 200 {
      let resource = document["resource"]?.string ?? ""
      let mayWatch = asker == .owner || asker == .launcher && resource.hasPrefix("free-")
      promise("only the allow list gives a media token", mayWatch, "\(asker) \(text)")
    }
  }

  private func checkSecrets(_ document: JSONValue, by asker: Asker, _ text: String) {
    let names = ["assertion", "viewer", "provider", "providers", "code", "signIn"]
    guard names.contains(where: { document[$0] != nil }) else { return }
    let isGranted = requestors.contains { requestor in
      asker.app.map { permissions.permission(of: AppRequestor(app: $0, requestor: requestor)) == .granted } ?? false
    }
    promise("only an app that the viewer allowed gets account data", isGranted, "\(asker) \(text)")
    guard let word = document["assertion"]?.string else { return }
    promise(
      "a box assertion names the calling app", requestors.contains { word == "word \(asker.app ?? "") \($0)" },
      "\(asker) \(text)")
  }
}

// MARK: - Fakes

/// A box account that is signed in until the sign-out.
private final class FuzzedAccount: BoxAccount {
  private let isIn = Locked(true)

  func kept() async throws(CommandError) -> SignInFacts? {
    guard isIn.withLock({ $0 }) else { return nil }
    return SignInFacts(provider: "tv", providerName: "TV", user: "anna", expires: 1, source: "regular")
  }
  func picker() async throws(CommandError) -> [ProviderEntry] { [ProviderEntry(id: "tv", name: "TV")] }
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> String { "word \(who.app) \(who.requestor)" }
  func tell(_ decision: BoxDecision) async throws(CommandError) {}
  func decisions(unless tag: String?, wait: Duration) async throws(CommandError) -> ServiceDecisions? {
    throw CommandError("nobody keeps decisions", code: "not-signed-in")
  }
  func lookAgain() async -> Bool { true }
  func signOut() async throws(CommandError) -> Bool {
    isIn.withLock { isIn in
      defer { isIn = false }
      return isIn
    }
  }
}

private struct FuzzedSource: EntitlementSource {
  func status() async throws(CommandError) -> AgentStatus { AgentStatus() }
  func providers() async throws(CommandError) -> [ProviderEntry] { [ProviderEntry(id: "tv", name: "TV")] }
  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String] { resources }
  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant {
    MediaGrant(resource: resource, token: "dG9rZW4=", expires: 1, provider: "tv")
  }
  func metadata(_ key: String) async throws(CommandError) -> JSONValue { .string(key) }
  func header(method: String, path: String) async throws(CommandError) -> String { "\(method) \(path)" }
  func signOut() async throws(CommandError) -> Bool { true }
}

/// A service that approves each code for which a provider was named, and denies the others.
private final class FuzzedLink: PairLink {
  private let stream: AsyncStream<LinkEvent>
  private let tell: AsyncStream<LinkEvent>.Continuation

  init() { (stream, tell) = AsyncStream<LinkEvent>.makeStream() }

  func events() -> AsyncStream<LinkEvent> { stream }
  func requestCode(provider: String?) {
    let code = ShownCode(
      code: "BCDFGHJK", display: "BCDF-GHJK", address: "box.example", link: "HTTPS://BOX.EXAMPLE/D/BCDFGHJK",
      expires: 4_000_000_000_000, deadline: 4_000_000_000_000, lifetime: 600_000)
    tell.yield(.code(code))
    tell.yield(.match(42))
    tell.yield(provider == nil ? .denied : .authenticated(name: "anna", provider: provider))
    tell.finish()
  }
  func withdraw() async { tell.finish() }
}
