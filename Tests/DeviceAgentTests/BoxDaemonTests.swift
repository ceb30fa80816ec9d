import CommandKit
import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `The agent's daemon` {
  @Test func `the daemon answers every command, and commands work without it`() async throws {
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

      // Another process pairs; the daemon notices by itself.
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
      // The example of `regent header --help`.
      let called = try await box.shell(
        """
        id=$(regent status --device-id) url=$REGENT_SERVICE/api/v1/tokens/authn
        regent header GET $url | curl -sS -o /dev/null -w '%{http_code}' -H @- \
        "$url?requestor=REF30&deviceId=$id"
        """)
      #expect(called.outputText == "200", "\(called.errorText)")

      let log = box.printed("daemon.err")
      #expect(!log.contains(Sample.secret))
      // The log names calls that hand out a secret, but not the status calls that a launcher repeats.
      #expect(log.contains(" header GET http"))
      #expect(!log.contains(" status") && !log.contains(" \n"))

      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
      #expect(try await box.run(["status"]).status == 0, "without the daemon")
    }
  }

  @Test(arguments: [("", UInt32(0o755)), ("600", 0o700)])
  func `the daemon's socket has the configured mode, and its folder is removed at the end`(
    mode: String, folderMode: UInt32
  )
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

  @Test func `a command does not take another program on the socket for the daemon`() async throws {
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

  @Test func `concurrent requests for one resource are answered with one call to the service`() async throws {
    let asked = Locked(0)
    // The source answers only after all twenty tasks are counted and have had some turns to send their request.
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
    // A task that was counted but had not asked yet may cause another call, but never a concurrent one.
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
  func `the daemon gives each user what the allow list says`(user: UInt32, resource: String, status: Int32)
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
  func `an unreadable line of the allow list is refused`(line: String) {
    #expect(throws: CommandError.self) { try AllowRule(parsing: line, in: "agent.conf line 1") }
  }

  @Test(arguments: [
    ("sport-1", "sport-*", true), ("sport", "sport-*", false), ("a", "*", true), ("", "*", true),
    ("abc", "a*c", true), ("ac", "a*c", true), ("a", "a*a", false), ("axbxc", "a*b*c", true),
    ("axc", "a*b*c", false), ("K", "\u{212a}", false), ("abc", "abc", true), ("abcd", "abc", false),
  ])
  func `resource patterns of the allow list are compared byte by byte`(
    resource: String, pattern: String, expected: Bool
  ) {
    #expect(matches(resource, pattern: pattern) == expected)
  }
}

/// Waits for the daemon's answer.
func answered(_ answer: Answer) async throws -> Response {
  switch answer {
  case .now(let response): return response
  case .later(let begin):
    return try await awaitingCallback("the daemon's answer") { callback in
      begin(PendingReply { callback($0) })
    }
  }
}

/// A source that counts its calls and how many run at the same time.
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
