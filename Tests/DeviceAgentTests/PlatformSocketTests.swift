import AccessEnabler
import CommandKit
import HTTPServer
import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPlatform
import TestSupport
import Testing

@testable import DeviceAgent

@Suite("Platform account: the daemon's socket")
struct PlatformSocketTests {
  @Test(arguments: ["status", "access", "account", "picker"])
  func `an unknown user gets the same refusal whether the box is signed in or not`(call: String) async throws {
    var heard: [[UInt8]] = []
    for isIn in [false, true] {
      try await withFixture(isIn: isIn) { (fixture: PlatformSocketFixture) async throws in
        for user in [1_009, 65_534] as [UInt32] {
          let answer = try await fixture.ask(call, ["requestor": "acme", "prompt": true], as: user)
          #expect(answer.status == .forbidden)
          #expect(answer.code == "not-an-app")
          if user == 1_009 { heard.append(answer.body) }
        }
        // A requestor that is not this app's is refused in the same way.
        #expect(try await fixture.ask(call, ["requestor": "news"]).code == "not-an-app")
      }
    }
    #expect(heard[0] == heard[1])
  }

  @Test func `the provider and the viewer are shown only to apps that the viewer allowed`() async throws {
    try await withFixture(isIn: true) { (fixture: PlatformSocketFixture) async throws in
      let before = try await fixture.ask("status", ["requestor": "acme"]).document
      #expect(before["permission"] == "undetermined" && before["signedIn"] == true)
      #expect(before["provider"] == nil && before["viewer"] == nil && before["expires"] == nil)
      let refused = try await fixture.ask("account", ["requestor": "acme"])
      #expect(refused.code == "undetermined")
      try await fixture.host.decide(.granted, PlatformSocketFixture.kodi)
      let after = try await fixture.ask("status", ["requestor": "acme"]).document
      #expect(after["permission"] == "granted" && after["provider"] == "CABLE" && after["version"] == 1)
      let word = try await fixture.ask(
        "account", ["requestor": "acme", "provider": "CABLE", "profileRequest": "cmVxdWVzdA=="])
      #expect(word.document["assertion"] == "word for kodi")
      let elsewhere = try await fixture.ask(
        "account", ["requestor": "acme", "provider": "OTHER", "profileRequest": "cmVxdWVzdA=="])
      #expect(elsewhere.code == "no-assertion")
      try await fixture.host.decide(.denied, PlatformSocketFixture.kodi)
      let denied = try await fixture.ask(
        "account", ["requestor": "acme", "provider": "CABLE", "profileRequest": "cmVxdWVzdA=="])
      #expect(denied.code == "denied" && denied.status == Status(422))
      try await eventually("the service hears of it") {
        let last = await fixture.account.told.last
        return last?.who == PlatformSocketFixture.kodi && last?.word == .permission(.denied)
      }
    }
  }

  @Test func `when another viewer signs in, earlier grants end`() async throws {
    try await withFixture(isIn: true) { (fixture: PlatformSocketFixture) async throws in
      try await fixture.host.decide(.granted, PlatformSocketFixture.kodi)
      #expect(try await fixture.ask("status", ["requestor": "acme"]).document["viewer"] == "u")
      await fixture.account.signIn("another")
      let word = try await fixture.ask(
        "account", ["requestor": "acme", "provider": "CABLE", "profileRequest": "cmVxdWVzdA=="])
      #expect(word.code == "undetermined")
      let status = try await fixture.ask("status", ["requestor": "acme"]).document
      #expect(status["permission"] == "undetermined" && status["viewer"] == nil)
      try await eventually("the service hears of it") {
        await fixture.account.told.last?.word == .permission(.undetermined)
      }
      try await fixture.host.decide(.granted, PlatformSocketFixture.kodi)
      #expect(try await fixture.ask("status", ["requestor": "acme"]).document["viewer"] == "another")
    }
  }

  @Test func `an assertion is refused when the viewer denies access while it is made`() async throws {
    try await withFixture(isIn: true) { (fixture: PlatformSocketFixture) async throws in
      try await fixture.host.decide(.granted, PlatformSocketFixture.kodi)
      await fixture.account.beforeAnswer { try? await fixture.host.decide(.denied, PlatformSocketFixture.kodi) }
      let word = try await fixture.ask(
        "account", ["requestor": "acme", "provider": "CABLE", "profileRequest": "cmVxdWVzdA=="])
      #expect(word.code == "denied")
    }
  }

  @Test func `an app's question is shown once, and the app waits for the answer`() async throws {
    try await withFixture(isIn: true) { (fixture: PlatformSocketFixture) async throws in
      async let asked = fixture.ask("access", ["requestor": "acme", "prompt": true], wait: 55)
      let prompt = try #require(await fixture.host.prompt(after: 0, wait: .seconds(30)))
      #expect(prompt.who == PlatformSocketFixture.kodi)
      let second = try await fixture.ask("access", ["requestor": "acme", "prompt": true], as: 1_002, wait: 55)
      #expect(second.document["prompt"] == "another" && second.document["permission"] == "undetermined")
      try await fixture.host.decide(.denied, PlatformSocketFixture.kodi)
      #expect(try await asked.document["permission"] == "denied")
      let again = try await fixture.ask("access", ["requestor": "acme", "prompt": true], wait: 55)
      #expect(again.document["prompt"] == "decided", "a viewer who said no is not asked again")
      #expect(await fixture.host.prompt(after: 0, wait: .zero) == nil)
    }
  }

  @Test func `an access call without prompt shows the viewer no question`() async throws {
    try await withFixture(isIn: true) { (fixture: PlatformSocketFixture) async throws in
      #expect(try await fixture.ask("access", ["requestor": "acme"], wait: 55).document["permission"] == "undetermined")
      #expect(await fixture.host.prompt(after: 0, wait: .zero) == nil)
    }
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"requestor":1}"#, #"{"requestor":"acme""#, "\u{feff}{}",
    String(repeating: "[", count: 60_000), String(repeating: #"{"a":"#, count: 10_000),
    #"{"requestor":"acme","x":"# + String(repeating: "[", count: 30_000) + "}",
  ])
  func `malformed JSON is refused, however deeply it is nested`(body: String) async throws {
    try await withFixture(isIn: true) { (fixture: PlatformSocketFixture) async throws in
      for call in ["status", "access", "account", "picker"] {
        #expect(try await fixture.send(call, Array(body.utf8)).status == .badRequest)
      }
      #expect(try await fixture.ask("access", ["requestor": "acme", "prompt": "yes"]).status == .badRequest)
      for requestor in [5, .null, ["acme"]] as [JSONValue] {
        let grant: JSONObject = ["app": "kodi", "permission": "granted", "requestor": requestor]
        #expect(
          try await fixture.sso("decide", grant).status == .badRequest, "\(requestor) is no \"all\"")
      }
      #expect(await fixture.host.decisions == [:])
      #expect(try await fixture.ask("status", ["requestor": "acme"]).status == .ok)
    }
  }

  @Test func `refused users are listed for the doctor, and the list is bounded`() async throws {
    var book = RefusalBook()
    for user in 0..<100 as Range<UInt32> { book.note(user, "acme") }
    book.note(99, "acme")
    #expect(book.latest.count == RefusalBook.most)
    #expect(book.latest.last == RefusalBook.Refusal(user: 99, requestor: "acme", count: 2))
    // One character may have any number of bytes: here U+200D, which belongs to the character before it.
    book.note(99, "a" + String(repeating: "\u{200D}\u{FE0F}", count: 10_000))
    #expect(book.latest.allSatisfy { $0.requestor.utf8.count <= 64 })
    try await withFixture(isIn: false) { (fixture: PlatformSocketFixture) async throws in
      _ = try await fixture.ask("status", ["requestor": "acme"], as: 1_009)
      let status = try await fixture.sso("status", [:])
      #expect(status.document["refused"]?.array?.first?["user"] == 1_009)
    }
  }

  @Test func `decisions are made only by root, the daemon's user and users with an allow line`() async throws {
    try await withFixture(isIn: true) { (fixture: PlatformSocketFixture) async throws in
      let grant: JSONObject = ["app": "kodi", "permission": "granted"]
      #expect(
        try await fixture.sso("decide", grant, as: 1_001).status == .forbidden, "an app does not let itself in")
      #expect(try await fixture.sso("decide", grant, as: 1_005).status == .ok)
      #expect(await fixture.host.decisions == [PlatformSocketFixture.kodi: .granted])
      #expect(try await fixture.sso("decide", ["app": "nobody", "permission": "granted"]).code == "unknown-app")
      #expect(try await fixture.sso("decide", ["app": "kodi", "permission": "undetermined"]).status == .ok)
      #expect(await fixture.host.decisions == [:])
      let status = try await fixture.sso("status", [:]).document
      #expect(status["apps"]?.array?.count == 2)
    }
  }

  @Test func `sign-out on a box without a sign-in ends nothing`() async throws {
    for isIn in [true, false] {
      try await withFixture(isIn: isIn) { (fixture: PlatformSocketFixture) async throws in
        _ = try await fixture.sso("decide", ["app": "kodi", "permission": "granted"])
        let answer = try await fixture.sso("sign-out", [:]).document
        #expect(answer["wasSignedIn"] == .bool(isIn))
        #expect(answer["apps"]?.array?.count == (isIn ? 1 : 0))
      }
    }
  }

  @Test func `a user who calls in a loop cannot fill the log or suppress other users' lines`() async throws {
    let lines = Locked<[String]>([])
    let time = Locked<UInt64>(0)
    let capped = CappedLines(clock: { time.withLock { $0 } }) { line in lines.withLock { $0.append(line) } }
    for _ in 0..<1_000 { capped.note("refused", of: "user 1001") }
    #expect(lines.withLock { $0.count } == CappedLines.limit.burst)
    capped.note("given", of: "user 1002")
    for _ in 0..<200 { capped.note("root", of: nil) }
    #expect(lines.withLock { $0.count } == CappedLines.limit.burst + 201)
    time.withLock { $0 = 2_000_000_000 }
    capped.note("refused", of: "user 1001")
    #expect(lines.withLock { $0.suffix(2) } == ["900 more lines about user 1001 were not written", "refused"])
    // The log lines of all users together have a limit, too.
    lines.withLock { $0 = [] }
    for user in 0..<10_000 { capped.note("refused", of: "user \(user)") }
    #expect(lines.withLock { $0.count } <= CappedLines.most + CappedLines.limit.burst)
    try await withTemporaryFolder { folder in
      let fixture = try PlatformSocketFixture(folder, isIn: true)
      for _ in 0..<300 { _ = try await fixture.sso("status", [:], as: 1_009) }
      for _ in 0..<300 { _ = try await fixture.ask("access", ["requestor": "acme", "prompt": true]) }
      // With the real clock one more line a second is allowed.
      for line in ["refused", "asks"] {
        let count = fixture.lines.all.withLock { $0.count { $0.hasPrefix(line) } }
        #expect((CappedLines.limit.burst..<250).contains(count), "\(line): \(count)")
      }
    }
  }

  @Test func `the doctor says that the file of decisions was lost, until the service's decisions come`() async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/permissions", "{".utf8)
      let fixture = try PlatformSocketFixture(folder, isIn: false)
      let answer = try await fixture.sso("status", [:])
      let findings = AccountFindings.of(.object(answer.document), now: 0)
      #expect(
        findings.contains {
          $0.verdict == .note && $0.sentence.hasPrefix("\(folder)/permissions cannot be read: the decisions are lost")
        }, "\(answer.document)")
      _ = try PermissionStore(folder: folder).takeOver([:], asOf: 0)
      let again = try await PlatformSocketFixture(folder, isIn: false).sso("status", [:])
      #expect(again.status == .ok && again.document["decisionsLost"] == nil)
    }
  }

  // MARK: The fixture

  private func withFixture(isIn: Bool, _ body: (PlatformSocketFixture) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      try await body(try PlatformSocketFixture(folder, isIn: isIn))
    }
  }
}

/// The daemon's calls for apps, with an account that the test controls.
struct PlatformSocketFixture: Sendable {
  static let kodi = AppRequestor(app: "kodi", requestor: "acme")
  let host: PlatformHost
  let account: HeldAccount
  let server: DaemonServer
  let lines = KeptLines()
  private let router: Router

  init(_ folder: String, isIn: Bool) throws {
    account = HeldAccount(isIn: isIn)
    host = PlatformHost(try PermissionStore(folder: folder), account)
    let apps = AppBook([
      try AppRule(parsing: "kodi user:1001 requestor:acme", in: "x"),
      try AppRule(parsing: "video user:1002 requestor:acme", in: "x"),
    ])
    let pairing = PairHost { _ throws(CommandError) in throw CommandError("nobody pairs here") }
    server = DaemonServer(
      CountingSource(), allowRules: [try AllowRule(parsing: "user:1005 sso", in: "x")], owner: 1_000,
      platform: PlatformParts(host: host, apps: apps, boxSignIn: BoxSignIn(pairing, owner: 1_000)),
      oauth: OAuthTokenSource(state: folder, buildTime: 0)
    ) { [lines] line in lines.all.withLock { $0.append(line) } }
    router = try server.router()
  }

  struct Heard {
    let status: Status
    let body: [UInt8]
    let document: JSONObject
    var code: String? { document["error"]?["code"]?.string }
  }

  func ask(_ call: String, _ body: JSONObject, as user: UInt32 = 1_001, wait: Int? = nil) async throws -> Heard {
    try await send(call, body.bytes(), as: user, wait: wait)
  }

  func send(_ call: String, _ body: [UInt8], as user: UInt32 = 1_001, wait: Int? = nil) async throws -> Heard {
    try await post("/v1/platform/\(call)", body, as: user, wait: wait)
  }

  func sso(_ verb: String, _ body: JSONObject, as user: UInt32 = 0) async throws -> Heard {
    try await post("/v1/sso/\(verb)", body.bytes(), as: user)
  }

  private func post(_ path: String, _ body: [UInt8], as user: UInt32, wait: Int? = nil) async throws -> Heard {
    let prefer = wait.map { "Prefer: wait=\($0)\r\n" } ?? ""
    let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(prefer)Content-Length: \(body.count)\r\n\r\n"
    let peer = Peer.local(Credentials(process: 1, user: user, group: user, supplementaryGroups: []))
    let request = try Request(head: Array(head.utf8), body: body, peer: peer)
    let response = try await answered(router.handle(request))
    let document = (try? JSONValue(reading: response.body))?.object ?? [:]
    return Heard(status: response.status, body: response.body, document: document)
  }
}

/// The daemon's log.
final class KeptLines: Sendable {
  let all = Locked<[String]>([])
}

/// An account without a service.
actor HeldAccount: BoxAccount {
  private let isIn: Bool
  private var user = "u"
  private(set) var told: [BoxDecision] = []
  private var before: (@Sendable () async -> Void)?

  init(isIn: Bool) { self.isIn = isIn }

  func beforeAnswer(_ work: @escaping @Sendable () async -> Void) { before = work }

  func signIn(_ user: String) { self.user = user }

  func kept() async throws(CommandError) -> SignInFacts? {
    isIn ? SignInFacts(provider: "CABLE", providerName: "Cable", user: user, expires: 1, source: "regular") : nil
  }
  func lookAgain() async -> Bool { true }
  func picker() async throws(CommandError) -> [ProviderEntry] {
    [ProviderEntry(id: "CABLE", name: "Cable", isFeatured: false)]
  }
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> String {
    await before?()
    return "word for \(who.app)"
  }
  func tell(_ decision: BoxDecision) async throws(CommandError) { told.append(decision) }
  func decisions(unless tag: String?, wait: Duration) async throws(CommandError) -> ServiceDecisions? {
    throw CommandError("nothing is decided elsewhere")
  }
  func signOut() async throws(CommandError) -> SignOutEnd { isIn ? .told : .wasNotSignedIn }
}
