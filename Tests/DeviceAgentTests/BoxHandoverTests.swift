import CommandKit
import HTTPServer
import RegentJSON
import ServiceTestSupport
import TestSupport
import RegentPlatform
import Testing

@testable import DeviceAgent

@Suite struct `Handing a token to a program` {
  @Test func `exec passes the token in descriptor 3 only and keeps the program's exit code`() async throws {
    try await withDaemon { box, _ in
      let end = try await box.run([
        "exec", "one", "--", "sh", "-c",
        "cat <&3; echo \" $REGENT_TOKEN_FD $REGENT_TOKEN_EXPIRES\"; env | grep -c the-token; exit 9",
      ])
      #expect(end.status == 9, "\(end.errorText)")
      #expect(end.outputText == "the-token 3 1700000000000\n0\n")
      let missing = try await box.run(["exec", "one", "--", "/no/such/program"])
      #expect(missing.status == 127)
      let unrunnable = try await box.run(["exec", "one", "--", "/etc/passwd"])
      #expect(unrunnable.status == 126)
      #expect(missing.errorText.contains("/no/such/program"))
    }
  }

  @Test func `a token is printed in the forms that other programs read`() async throws {
    try await withDaemon { box, _ in
      #expect(try await box.run(["token", "one"]).outputText == "the-token\n")
      #expect(try await box.run(["authorize", "one"]).outputText == "the-token\n")
      let form = try JSONValue(
        reading: try await box.run(["token", "one", "--credential-process"]).output)
      #expect(form["Version"]?.int64 == 1)
      #expect(form["Token"]?.string == "the-token")
      #expect(form["Expiration"]?.string == "2023-11-14T22:13:20Z")
    }
  }

  @Test func `missing metadata is reported with a hint for the viewer, not the operator's command`() async throws {
    try await withDaemon { box, _ in
      let end = try await box.run(["metadata", "zip"])
      #expect(end.status == 1)
      #expect(end.errorText.contains("the service has no zip of this viewer for this app"))
      // A viewer in front of the box has no `regentctl`.
      #expect(end.errorText.contains("hint: ask the service's operator to let the apps of "))
      #expect(!end.errorText.contains("regentctl"), "\(end.errorText)")
    }
  }

  @Test(
    arguments: [
      (.min, "-292275055-05-16T16:47:04Z"), (.max, "292278994-08-17T07:12:55Z"),
    ] as [(Int64, String)])
  func `a token with an extreme expiry is printed with a valid date`(expires: Int64, text: String) async throws {
    try await withDaemon { box, _ in
      let end = try await box.run(["token", "--credential-process", "--", "\(expires)"])
      #expect(try JSONValue(reading: end.output)["Expiration"]?.string == text)
    }
  }

  @Test func `a denied token has the provider's text and exit code 4`() async throws {
    try await withDaemon { box, _ in
      let end = try await box.run(["token", "forbidden", "--json"])
      #expect(end.status == 4)
      let error = try JSONValue(reading: Array(end.errorText.utf8))["error"]
      #expect(error?["code"]?.string == "not-authorized")
      #expect(error?["message"]?.string == "not in your package")
    }
  }

  @Test func `programs that ask for the same token at once cause fewer calls than programs`() async throws {
    try await withDaemon { box, source in
      let programs = try (0..<8).map { try box.start(["token", "slow"], output: "token\($0)") }
      try await eventually("eight questions") { source.asked.withLock { $0 } == 8 }
      source.mayAnswer.raise()
      for program in programs { #expect(try await eventually("the end") { program.poll() } == 0) }
      #expect((0..<8).allSatisfy { box.printed("token\($0)") == "the-token\n" })
      #expect(await source.calls < 8)
    }
  }

  @Test func `a daemon started by systemd socket activation answers`() async throws {
    guard installedProgram("systemd-socket-activate") != nil else { return }
    let service = try await BoxService()
    defer { service.stop() }
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let socket = "\(folder)/activated.sock"
      let variables = box.environment.map { "\($0.key)=\($0.value)" }
      let activator = try RunningProgram(
        "systemd-socket-activate",
        ["--listen=\(socket)"] + variables.map { "--setenv=\($0)" }
          + [try builtProgram("regent"), "daemon"],
        standardOutput: "\(folder)/a.out", standardError: "\(folder)/a.err")
      // Before the socket exists the command reads the box's own store, so that the exit code alone proves nothing.
      do {
        try await eventually("an answer by the daemon") {
          let status = try await box.run(["status", "--json", "--socket", socket])
          let document = try? JSONValue(reading: status.output)
          return status.status == 3 && document?["daemon"]?.bool == true
        }
      } catch {
        Issue.record("\(error): \(box.printed("a.err"))")
      }
      activator.signal(15)
    }
  }

  /// A daemon in the test's process, whose tokens need no service.
  private func withDaemon(_ body: (Box, ReadySource) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      // No settings are given with the command, so that it uses any daemon that runs.
      let box = try Box(
        folder, "",
        more: [
          "REGENT_REQUESTOR": "", "REGENT_PUBLIC_KEY": "", "REGENT_SECRET_FILE": "",
          "REGENT_STATE": "",
        ])
      _ = try run("mkdir", ["-m", "700", "\(folder)/regent"])
      let source = ReadySource()
      let daemon = DaemonServer(source, allowRules: []) { _ in }
      var configuration = ServerConfiguration()
      configuration.loops = 1
      let address = ListenAddress.local(
        path: "\(folder)/regent/agent.sock", mode: 0o600, group: nil)
      let router = try daemon.router()
      let counting = ClosureHandler { request in
        if request.path == Array("/v1/authorize".utf8) { source.asked.withLock { $0 += 1 } }
        return router.handle(request)
      }
      let server = try Server([Listener(address, handler: counting)], configuration: configuration)
      defer { server.stop(within: .milliseconds(100)) }
      try await body(box, source)
    }
  }
}

/// A source that answers without a service.
private actor ReadySource: EntitlementSource {
  private(set) var calls = 0
  /// How many requests have reached the daemon.
  nonisolated let asked = Locked(0)
  /// Slow answers wait for this.
  nonisolated let mayAnswer = Flag("the test lets the answer go")

  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant {
    calls += 1
    if resource == "forbidden" {
      throw CommandError("not in your package", code: "not-authorized", exit: .denied)
    }
    if resource == "slow" { try? await mayAnswer.wait() }
    return MediaGrant(
      resource: resource, token: "the-token", expires: Int64(resource) ?? 1_700_000_000_000,
      provider: "p")
  }

  func status() async throws(CommandError) -> AgentStatus { AgentStatus() }
  func providers() async throws(CommandError) -> [ProviderEntry] { [] }
  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String] { resources }
  func metadata(_ key: String) async throws(CommandError) -> JSONValue { .null }
  func header(method: String, path: String) async throws(CommandError) -> String { "" }
  func signOut() async throws(CommandError) -> SignOutEnd { .told }
}
