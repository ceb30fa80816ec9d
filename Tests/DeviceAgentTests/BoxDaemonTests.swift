import CommandKit
import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `The daemon` {
  @Test func `answers every command, and commands work without it`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let daemon = try box.start(["daemon"], output: "daemon")
      try await eventually("the socket") {
        box.printed("daemon.err").contains("listening on unix:\(folder)/regent/agent.sock")
      }
      let before = try await box.run(["status", "--json"])
      #expect(before.status == 3)
      #expect(try JSONValue(reading: before.output)["daemon"]?.bool == true)
      let refused = try await box.run(["token", "channel-1"])
      #expect(refused.status == 3)
      #expect(refused.errorText.contains("regent pair"))

      // Somebody pairs in another process; the daemon finds out by itself.
      let pairing = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { pairing.poll() } == 0)
      try await eventually("the daemon has the sign-in") {
        try await box.run(["status", "--json"]).status == 0
      }

      let providers = try await box.run(["providers", "--json"])
      #expect(
        try JSONValue(reading: providers.output).array?.compactMap { $0["id"]?.string }.contains(
          "local") == true)
      let header = try await box.run(["header", "get", "/api/v1/x"])
      #expect(header.outputText.hasPrefix("Authorization: GET requestor_id=REF30, nonce="))
      #expect(try await box.run(["header", "PATCH", "/api/v1/x"]).status == 2)
      // As `regent header --help` has it.
      let called = try await box.shell(
        """
        id=$(regent status --device-id) url=$REGENT_SERVICE/api/v1/tokens/authn
        regent header GET $url | curl -sS -o /dev/null -w '%{http_code}' -H @- \
        "$url?requestor=REF30&deviceId=$id"
        """)
      #expect(called.outputText == "200", "\(called.errorText)")

      let log = box.printed("daemon.err")
      #expect(!log.contains(Sample.secret))
      // What hands out a secret is told, what a launcher polls is not.
      #expect(log.contains(" header GET http"))
      #expect(!log.contains(" status") && !log.contains(" \n"))

      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
      #expect(try await box.run(["status"]).status == 0, "without the daemon")
    }
  }

  @Test(arguments: [("", UInt32(0o755)), ("600", 0o700)])
  func `is reached by those who may, and leaves no folder behind`(mode: String, folderMode: UInt32)
    async throws
  {
    try await withTemporaryFolder { folder in
      let box = try Box(folder, "http://127.0.0.1:1")
      let daemon = try box.start(
        ["daemon"] + (mode.isEmpty ? [] : ["--socket-mode", mode]), output: "daemon")
      try await box.daemonListens()
      let found = try await box.shell("stat -c %a regent")
      #expect(found.outputText == "\(String(folderMode, radix: 8))\n")
      let second = try await box.run(["daemon"], output: "second")
      #expect(second.status == 1)
      #expect(
        second.errorText.hasPrefix(
          "regent: another program is already listening on unix:\(folder)/regent/"))
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
      #expect(realPath("\(folder)/regent") == nil)
    }
  }

  @Test func `is not taken for one when something else answers`() async throws {
    let admin = ClosureHandler { _ in
      .now(Response(.notFound, type: "application/json", body: Array("{}".utf8)))
    }
    try await withTemporaryFolder { folder in
      let place = ListenAddress.local(path: "\(folder)/admin.sock", mode: 0o600, group: nil)
      let server = try Server([Listener(place, handler: admin)])
      defer { server.stop(within: .milliseconds(100)) }
      let box = try Box(
        folder, "http://127.0.0.1:1", more: ["REGENT_AGENT_SOCKET": "\(folder)/admin.sock"])
      let wrong = try await box.run(["status"])
      #expect(wrong.status == 1)
      #expect(wrong.errorText.contains("is not a daemon of this version"))
      #expect(wrong.errorText.contains("check --socket and REGENT_AGENT_SOCKET"))
    }
  }

  @Test func `asks once for what many want at the same time`() async throws {
    let asked = Locked(0)
    // The answer comes when all have counted themselves and have had some turns to ask.
    let source = CountingSource {
      var turns = 0
      _ = try? await eventually("twenty questions") {
        if asked.withLock({ $0 }) >= 20 { turns += 1 }
        return turns > 50
      }
    }
    let flight = SingleFlight<String, MediaGrant>()
    let grants = await withTaskGroup(of: MediaGrant?.self) { group in
      for _ in 0..<20 {
        group.addTask { @Sendable in
          asked.withLock { $0 += 1 }
          return try? await flight.answer("one") { () throws(CommandError) in
            try await source.authorize("one", data: [:])
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(grants.count == 20 && !grants.contains(nil))
    // Whoever counted itself and had not asked yet when the answer came may have asked anew, but beside nobody.
    let calls = await source.calls
    #expect(calls < 5)
    #expect(await source.mostAtOnce == 1)
    _ = try await flight.answer("one") { () throws(CommandError) in
      try await source.authorize("one", data: [:])
    }
    #expect(await source.calls == calls + 1, "a later question is a new one")
  }

  @Test(
    arguments: [
      (0, "x", Int32(200)), (1000, "x", 200), (1001, "sport-1", 200), (1001, "news", 403),
      (1002, "news", 403), (1003, "news", 200), (1004, "x", 403),
    ] as [(UInt32, String, Int32)])
  func `gives each user what the list says`(user: UInt32, resource: String, status: Int32)
    async throws
  {
    let allowRules = [
      try AllowRule(parsing: "user:1001 token=sport-* status", in: "x"),
      try AllowRule(parsing: "group:77 token", in: "x"),
    ]
    let daemon = DaemonServer(CountingSource(), allowRules: allowRules, owner: 1000) { _ in }
    let body = JSONValue.object(["resource": .string(resource)]).bytes()
    let head =
      "POST /v1/authorize HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n"
    let peer = Peer.local(
      Credentials(
        process: 1, user: user, group: user, supplementaryGroups: user == 1003 ? [5, 77] : []))
    let request = try Request(head: Array(head.utf8), body: body, peer: peer)
    let response = try await answered(try daemon.router().handle(request))
    #expect(Int32(response.status.rawValue) == status)
    if status == 403 {
      let hint = try #require(try JSONValue(reading: response.body)["error"]?["hint"]?.string)
      #expect(
        hint == "add to agent.conf: allow = user:\(user) token=\(resource); then run "
          + "systemctl restart regent")
    }
    #expect(response.header(.cacheControl) == "no-store")
  }

  @Test(arguments: [
    "", "nobody", "user:1001", "user:1001 fly", "who:1 status", "user: status",
    "user:1001 sso=kodi", "user:1001 status=x", "user:1001 token=* logout=*", "user:4294967295 status",
  ])
  func `refuses a list that cannot be read`(line: String) {
    #expect(throws: CommandError.self) { try AllowRule(parsing: line, in: "agent.conf line 1") }
  }

  @Test(arguments: [
    ("sport-1", "sport-*", true), ("sport", "sport-*", false), ("a", "*", true), ("", "*", true),
    ("abc", "a*c", true), ("ac", "a*c", true), ("a", "a*a", false), ("axbxc", "a*b*c", true),
    ("axc", "a*b*c", false), ("K", "\u{212a}", false), ("abc", "abc", true), ("abcd", "abc", false),
  ])
  func `knows patterns byte by byte`(resource: String, pattern: String, expected: Bool) {
    #expect(matches(resource, pattern: pattern) == expected)
  }
}

/// The daemon's answer, now or later.
func answered(_ answer: Answer) async throws -> Response {
  switch answer {
  case .now(let response): return response
  case .later(let begin):
    return try await awaitingCallback("the daemon's answer") { callback in
      begin(PendingReply { callback($0) })
    }
  }
}

/// A source that counts how often it is asked.
actor CountingSource: EntitlementSource {
  private(set) var calls = 0
  private(set) var mostAtOnce = 0
  private var atOnce = 0
  private let pause: @Sendable () async -> Void

  init(pause: @escaping @Sendable () async -> Void = {}) { self.pause = pause }

  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant {
    calls += 1
    atOnce += 1
    mostAtOnce = max(mostAtOnce, atOnce)
    await pause()
    atOnce -= 1
    return MediaGrant(resource: resource, token: "t", expires: 1, provider: "p")
  }

  func status() async throws(CommandError) -> AgentStatus { AgentStatus() }
  func providers() async throws(CommandError) -> [ProviderEntry] { [] }
  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String] { resources }
  func metadata(_ key: String) async throws(CommandError) -> JSONValue { .null }
  func header(method: String, path: String) async throws(CommandError) -> String { "" }
  func signOut() async throws(CommandError) -> SignOutEnd { .told }
}
