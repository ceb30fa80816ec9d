import RegentHTTPCodec
import HTTPServer
import RegentJSON
import PairingService
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@Suite struct `A box with hostile services and users` {
  /// Times that overflow when a clock's time is added.
  private static let absurdTimes: [Int64] = [.min, .min + 1, .max, 10_000_000_000_000_000]

  @Test(arguments: absurdTimes)
  func `a code with an absurd expiry is refused`(expires: Int64) async throws {
    let service = try await LyingService { path in
      guard path.contains("/regcode") else { return nil }
      return """
        {"id":"1","code":"BCDFGHJK","requestor":"R","generated":1,"expires":\(expires),\
        "info":{"deviceId":"eA=="},"verificationURL":"http://127.0.0.1"}
        """
    }
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json"])
      _ = try await box.event("error")
      program.signal(15)
      #expect(try await eventually("the end") { program.poll() } < 128)
      #expect(try box.events().allSatisfy { $0["event"]?.string == "error" })
    }
  }

  @Test func `a token with an absurd expiry is refused`() async throws {
    let expires = Locked<Int64>(0)
    let service = try await LyingService { path in
      guard path.contains("/tokens/media") else { return nil }
      return """
        {"resource":"news","requestor":"R","expires":\(expires.withLock { $0 }),\
        "serializedToken":"YSB0b2tlbg==","userId":"u","mvpdId":"local"}
        """
    }
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json"])
      let wire = try #require(try await box.event("code")["code"]?.string)
      try await service.service.approve(wire)
      #expect(try await eventually("the end") { program.poll() } == 0)
      for time in Self.absurdTimes {
        expires.withLock { $0 = time }
        let end = try await box.run(["token", "news", "--credential-process"])
        #expect((1..<128).contains(end.status), "\(time): \(end.status)")
        #expect(end.output.isEmpty && end.errorText.contains("expires"), "\(end.errorText)")
      }
      expires.withLock { $0 = 4_000_000_000_000 }
      let good = try await box.run(["token", "news"])
      #expect(good.outputText == "YSB0b2tlbg==\n", "\(good.errorText)")
    }
  }

  @Test func `a hundred SIGUSR1 signals make regent pair request only a few codes`() async throws {
    let service = try await LyingService { _ in nil }
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let program = try box.start(["pair", "--json", "--unattended"])
      _ = try await box.event("code")
      for _ in 0..<100 { program.signal(10) }
      // The last signal is obeyed, too. PairModelTests show with their own clock that there is at most one code a
      // second.
      _ = try await box.event("code", after: 1)
      let made = try box.events().count { $0["event"]?.string == "code" }
      #expect((2...10).contains(made), "\(made) for a hundred signals")
      program.signal(15)
      #expect(try await eventually("the end") { program.poll() } == 3)
    }
  }

  @Test(.enabled(if: Accounts.effectiveUser == 0, "only root can become somebody else"))
  func `other users who fill the socket with connections do not block the owner`() async throws {
    try await withTemporaryFolder { folder in
      _ = try run("chmod", ["711", folder])
      let box = try Box(folder, "http://127.0.0.1:1")
      let socket = "\(folder)/agent.sock"
      let daemon = try box.start(["daemon", "--socket", socket], output: "daemon")
      try await box.daemonListens()
      let users = [65_534, 65_533, 65_532, 65_531, 65_530]
      let strangers = try users.map { user in
        try RunningProgram(
          "python3", ["-c", Self.holder, socket, "\(user)"],
          standardOutput: "\(folder)/held\(user)", standardError: "\(folder)/held\(user).err")
      }
      defer { for stranger in strangers { stranger.signal(9) } }
      for user in users {
        try await eventually("connections of \(user)") { box.printed("held\(user)").hasSuffix("\n") }
      }
      for _ in 0..<10 {
        let status = try await box.run(["status", "--json", "--socket", socket])
        #expect(status.status == 3, "\(status.errorText)")
        #expect(try JSONValue(reading: status.output)["daemon"]?.bool == true)
      }
      #expect(daemon.poll() == nil)
    }
  }

  @Test func `a command reports a daemon that is too busy`() async throws {
    try await withTemporaryFolder { folder in
      let socket = "\(folder)/agent.sock"
      let full = ClosureHandler { _ in .now(Response(.serviceUnavailable)) }
      let server = try Server([
        Listener(.local(path: socket, mode: 0o600, group: nil), handler: full)
      ])
      defer { server.stop(within: .milliseconds(100)) }
      let box = try Box(folder, "http://127.0.0.1:1")
      let end = try await box.run(["status", "--socket", socket])
      #expect(end.status == 1)
      #expect(end.errorText.contains("the daemon on \(socket) is overloaded: try again"))
    }
  }

  /// Opens as many connections as possible as another user, sends half a request on each, and opens new ones when
  /// they are closed.
  private static let holder = """
    import os, socket, sys, time
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
    def begin():
      one = socket.socket(socket.AF_UNIX)
      one.settimeout(5)
      try:
        one.connect(sys.argv[1])
        one.send(b"GET /v1/ali")
      except OSError:
        pass
      return one
    held = [begin() for _ in range(150)]
    print("held", flush=True)
    while True:
      time.sleep(0.5)
      held = [begin() for _ in range(150)]
    """
}

/// A real service on a real socket that can replace some of its responses.
private final class LyingService: Sendable {
  let service: TestService
  let url: String
  private let server: Server

  /// `lie` returns the document for a path, or nil to answer truthfully.
  init(_ lie: @escaping @Sendable (String) -> String?) async throws {
    let port = try freePort()
    let url = "http://127.0.0.1:\(port)"
    self.url = url
    service = try await TestService(usesMachineClock: true, options: { $0.publicURL = url })
    let router = try service.router()
    let handler = ClosureHandler { request in
      guard let text = lie(String(decoding: request.path, as: UTF8.self)) else {
        return router.handle(request)
      }
      return .now(Response(.ok, type: "application/json", body: Array(text.utf8)))
    }
    var configuration = ServerConfiguration()
    configuration.loops = 1
    server = try Server(
      [Listener(.network(.loopback, port: port), handler: handler)], configuration: configuration)
  }

  func stop() { server.stop(within: .milliseconds(100)) }
}
