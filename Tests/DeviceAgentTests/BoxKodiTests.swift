import HTTPServer
import RegentHTTPCodec
import RegentJSON
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import DeviceAgent

@Suite(.enabled(if: installedProgram("python3") != nil)) struct `Python programs and the daemon` {
  /// Runs a Python program beside the box, with the installed module and a simulated Kodi that prints its calls.
  private func start(
    _ box: Box, _ arguments: [String], output: String, more: [String: String] = [:]
  ) throws -> RunningProgram {
    let source = packageFolder()
    return try RunningProgram(
      "python3", ["-B"] + arguments,
      environment: box.environment.merging([
        "PYTHONPATH": "\(source)/deploy/python:\(source)/Tests/fixtures/kodi"
      ]) { $1 }.merging(more) { $1 },
      standardOutput: "\(box.folder)/\(output)", standardError: "\(box.folder)/\(output).err")
  }

  private func line(_ start: String, in output: String, of box: Box) async throws -> String {
    try await eventually("\"\(start)\" in \(output)") {
      box.printed(output).split(separator: "\n").map(String.init).first { $0.hasPrefix(start) }
    }
  }

  @Test func `the Kodi add-on shows the code, waits for the phone and plays with a token`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await service.entitle("channel-*", .allow)
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let addon = packageFolder() + "/docs/examples/kodi/addon.py"
      let play = [addon, "channel-1", "https://tv.example.org/1.m3u8"]

      let alone = try start(box, play, output: "alone")
      #expect(try await eventually("the end") { alone.poll() } == 0, "\(box.printed("alone.err"))")
      #expect(
        box.printed("alone").hasPrefix(
          "dialog the daemon is not running: no program listens on \(folder)/regent/agent.sock"))

      let daemon = try box.start(["daemon"], output: "daemon")
      try await box.daemonListens()
      // The viewer goes back, so that the code is withdrawn.
      let cancelled = try start(box, play, output: "cancelled", more: ["KODI_CANCEL": "\(folder)/back"])
      let first = try await code(of: "cancelled", box)
      try writeFile("\(folder)/back", [])
      #expect(try await eventually("the end") { cancelled.poll() } == 0)
      try await eventually("the end of the code") { try service.isWithdrawn(first) }
      #expect(!box.printed("cancelled").contains("play"))

      let playing = try start(box, play, output: "playing")
      try await service.service.approve(try await code(of: "playing", box))
      let played = try await line("play", in: "playing", of: box)
      #expect(played.hasPrefix("play https://tv.example.org/1.m3u8|X-Media-Token="))
      #expect(try await eventually("the end") { playing.poll() } == 0, "\(box.printed("playing.err"))")
      // A signed-in box plays without a window.
      let again = try start(box, play, output: "again")
      #expect(try await eventually("the end") { again.poll() } == 0)
      #expect(box.printed("again").hasPrefix("play https://tv.example.org/1.m3u8|X-Media-Token="))
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }

  /// The code in the add-on's window, without its dash.
  private func code(of output: String, _ box: Box) async throws -> String {
    let shown = try await line("window Open", in: output, of: box)
    return String(shown.suffix(9)).filter { $0 != "-" }
  }

  @Test func `every method of the Python module works, and its errors have their codes`() async throws {
    let service = try await BoxService()
    defer { service.stop() }
    try await service.entitle("channel-*", .allow)
    try await withTemporaryFolder { folder in
      let box = try Box(folder, service.url)
      let daemon = try box.start(["daemon"], output: "daemon")
      try await box.daemonListens()
      try writeFile("\(folder)/all.py", Self.script.utf8)
      let running = try start(box, ["\(folder)/all.py"], output: "all")
      let wire = try await line("code ", in: "all", of: box)
      try await service.service.approve(String(wire.dropFirst(5)))
      #expect(try await eventually("the end") { running.poll() } == 0, "\(box.printed("all.err"))")
      #expect(
        box.printed("all").split(separator: "\n").dropFirst() == [
          "authenticated Sample TV", "signed in True", "providers True", "preauthorized ['channel-1']",
          "token channel-1", "metadata None", "header GET requestor_id=", "logout True", "logout False",
          "3 not-signed-in", "no-such-call",
        ], "\(box.printed("all"))")
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }

  @Test(arguments: ["", "XDG_RUNTIME_DIR=", "XDG_RUNTIME_DIR=/nowhere", "HOME=/nowhere"])
  func `the Python module works without environment variables`(variable: String) async throws {
    let ask = "from regent import Regent, RegentError\ntry: Regent().status()\nexcept RegentError as e: print(e.code)"
    let answer = try await Task.detached {
      try run(
        "env",
        ["-i", "PYTHONPATH=\(packageFolder())/deploy/python"] + (variable.isEmpty ? [] : [variable])
          + [try #require(installedProgram("python3")), "-B", "-c", ask])
    }.value
    #expect(answer.status == 0 && !answer.outputText.isEmpty, "\(answer.errorText)")
  }

  private static let script = """
    from regent import Regent, RegentError
    box = Regent()
    for event in box.pair():
        if event["event"] == "code":
            print("code", event["code"], flush=True)
        elif event["event"] == "authenticated":
            print("authenticated", event["provider"])
    print("signed in", box.status()["signedIn"])
    print("providers", "local" in [provider["id"] for provider in box.providers()])
    print("preauthorized", box.preauthorize(["channel-1", "other-1"]))
    print("token", box.authorize("channel-1")["resource"])
    print("metadata", box.metadata("nothing-of-that-name"))
    print("header", box.header("GET", "/api/v1/x")[:17])
    print("logout", box.logout())
    print("logout", box.logout())
    for ask in (lambda: box.authorize("channel-1"), lambda: box._call("GET", "nothing")):
        try:
            ask()
        except RegentError as error:
            print(*[error.exit] * (error.exit == 3), error.code)
    """
}

@Suite struct `Documentation of the daemon's socket` {
  @Test func `docs/socket.md describes every call of the daemon's socket and no other`() throws {
    let daemon = try withTemporaryFolder { try PlatformSocketFixture($0, isIn: false).server }
    let page = String(decoding: try readFile(packageFolder() + "/docs/socket.md"), as: UTF8.self)
    let described = page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
    let mounted = daemon.routes().mounted.map { "\($0.method.token) \($0.pattern)" }
    #expect(Set(described) == Set(mounted) && described.count == mounted.count)
  }

  @Test func `the daemon answers unknown calls and malformed requests on its socket with one JSON object too`()
    async throws
  {
    try await withTemporaryFolder { folder in
      let box = try Box(folder, "http://127.0.0.1:1")
      let daemon = try box.start(["daemon"], output: "daemon")
      try await box.daemonListens()
      for (arguments, status, code) in [
        ("http://localhost/", 404, "no-such-call"),
        ("http://localhost/v2/status", 404, "no-such-call"),
        ("-d '{}' http://localhost/v1/status", 405, "no-such-call"),
        ("-X TRACE http://localhost/v1/status", 405, "malformed"),
        ("-d nonsense http://localhost/v1/authorize", 400, "malformed"),
        ("-H 'Content-Length: x' http://localhost/v1/status", 400, "malformed"),
        ("--path-as-is http://localhost/v1/../status", 400, "no-such-call"),
        ("-d @big http://localhost/v1/authorize", 413, "malformed"),
      ] {
        try writeFile("\(folder)/big", [UInt8](repeating: 0x20, count: 70_000))
        let answer = try await box.shell(
          "curl -sS -w '\\n%{http_code} %{content_type}' --unix-socket regent/agent.sock \(arguments)")
        let lines = answer.outputText.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.last == "\(status) application/json", "\(arguments): \(answer.outputText)")
        let error = try JSONValue(reading: Array(lines.dropLast().joined(separator: "\n").utf8))["error"]
        #expect(error?["code"]?.string == code, "\(arguments)")
        #expect(error?["message"]?.string?.isEmpty == false && error?["exit"]?.int64 == 2)
      }
      daemon.signal(15)
      #expect(try await eventually("the end") { daemon.poll() } == 0)
    }
  }
}
