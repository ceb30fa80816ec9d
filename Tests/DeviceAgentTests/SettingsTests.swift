import AccessEnabler
import CommandKit
import RegentCryptography
import RegentHTTPCodec
import RegentPlatform
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `The agent's settings` {
  @Test func `options override variables, and variables override the file`() async throws {
    try await withTemporaryFolder { folder in
      try writeFile(
        "\(folder)/agent.conf",
        """
        # the box in the living room
        service = https://one.example.org
        service=https://two.example.org
        requestor = FROM-FILE
        allow = user:0 status
        """.utf8)
      let service = "https://three.example.org"
      let read = try await settings(
        ["--config", "\(folder)/agent.conf", "--service", service],
        ["REGENT_REQUESTOR": "FROM-ENVIRONMENT", "HOME": folder])
      #expect(read.services.map(\.description) == [service])
      #expect(read.requestor == "FROM-ENVIRONMENT")
      #expect(read.allowRules.count == 1)
      let other = try await settings(
        ["--config", "\(folder)/agent.conf"], ["HOME": folder])
      #expect(other.services.count == 2)
      #expect(other.requestor == "FROM-FILE")
      #expect(other.state == "\(folder)/.local/state/regent/agent")
    }
  }

  @Test(arguments: [
    "service", "service =", "sevrice = https://x.example", "requestor = a\nrequestor = b",
    "service = ftp://x.example", "public-host = a b",
  ])
  func `an unreadable settings file is refused with its line`(text: String) async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/agent.conf", text.utf8)
      await #expect(throws: CommandError.self) {
        try await settings(["--config", "\(folder)/agent.conf"], ["HOME": folder])
      }
    }
  }

  @Test func `a service that was found again counts only as long as the configured address is the same`() async throws {
    try await withTemporaryFolder { folder in
      func read(_ service: String, _ more: String) async throws -> AgentSettings {
        try writeFile("\(folder)/agent.conf", "service = \(service)\n\(more)\n".utf8)
        return try await settings(["--config", "\(folder)/agent.conf", "--state", folder], ["HOME": folder])
      }
      let moved = MovedService(
        configured: try AbsoluteURL(parsing: "http://192.168.7.5:8787"),
        now: try AbsoluteURL(parsing: "http://192.168.7.9:8787"))
      moved.write(MovedService.file(folder))
      #expect(MovedService(reading: MovedService.file(folder)) == moved)
      let known = try await read("http://192.168.7.5:8787", "find-again = yes")
      #expect(known.currentServices == [moved.now])
      #expect(known.services == [moved.configured])
      #expect(known.addressCheck.drawable("http://192.168.7.9:8787/D/X") != nil)
      #expect(known.addressCheck.drawable("http://192.168.7.5:8787/D/X") == nil)
      for (service, more) in [
        ("http://192.168.7.6:8787", "find-again = yes"), ("http://192.168.7.5:8787", "find-again = no"),
      ] {
        let other = try await read(service, more)
        #expect(other.currentServices.map(\.description) == [service])
      }
      await #expect(throws: CommandError.self) { _ = try await read("http://192.168.7.5:8787", "find-again = maybe") }
    }
  }

  @Test func `a settings file that other users can write is refused`() async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/agent.conf", "requestor = X".utf8, mode: 0o666)
      await #expect(throws: CommandError.self) {
        try await settings(["--config", "\(folder)/agent.conf"], ["HOME": folder])
      }
    }
  }

  @Test func `a secret file that other users can read is refused`() async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/secret", "s3cret\n".utf8, mode: 0o644)
      let read = try await settings(
        ["--public-key", "K", "--secret-file", "\(folder)/secret"], ["HOME": folder])
      #expect(throws: CommandError.self) { try read.credentials() }
      try writeFile("\(folder)/secret", "s3cret\n".utf8)
      guard case .keyPair("K", let secret) = try read.credentials() else {
        Issue.record("no key pair")
        return
      }
      #expect(secret.matches(Array("s3cret".utf8)))
    }
  }

  @Test func `without a named secret file the one beside the settings file is used`() async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/agent.conf", "public-key = K".utf8)
      let arguments = ["--config", "\(folder)/agent.conf"]
      let without = try await settings(arguments, ["HOME": folder])
      #expect(throws: CommandError.self) { try without.credentials() }
      try writeFile("\(folder)/secret", "beside\n".utf8)
      let beside = try await settings(arguments, ["HOME": folder])
      guard case .keyPair("K", let secret) = try beside.credentials() else {
        Issue.record("no key pair")
        return
      }
      #expect(secret.matches(Array("beside".utf8)))
    }
  }

  @Test func `a settings file with CRLF line endings is read and keeps them`() throws {
    let text = "# Den\r\nservice = https://one.example\r\nname = Den\r\n"
    let conf = try AgentConf(text: text, path: "agent.conf")
    #expect(conf.values == ["service": ["https://one.example"], "name": ["Den"]])
    var changed = AgentConfText(text)
    changed.set("service", "https://two.example")
    changed.set("requestor", "acme")
    #expect(changed.text == "# Den\r\nservice = https://two.example\r\nname = Den\r\nrequestor = acme\r\n")
    #expect(try AgentConf(text: changed.text, path: "agent.conf").values["requestor"] == ["acme"])
  }

  @Test func `settings are compared byte by byte, and a value that is not UTF-8 is refused with its line`() throws {
    // U+0301 combines with the sign before it on the screen, but the file is read byte by byte.
    let marked = try AgentConf(text: "#\u{301} a comment\nname =\u{301}x\n", path: "agent.conf")
    #expect(marked.values["name"]?.first?.unicodeScalars.map(\.value) == [0x301, 0x78])
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/agent.conf", Array("# caf".utf8) + [0xE9, 0x0A] + Array("name = Den\n".utf8))
      #expect(try AgentConf(path: "\(folder)/agent.conf").values == ["name": ["Den"]])
      try writeFile("\(folder)/agent.conf", Array("requestor = x\nname = caf".utf8) + [0xE9, 0x0A])
      let refused = #expect(throws: CommandError.self) { try AgentConf(path: "\(folder)/agent.conf") }
      #expect(refused?.message == "\(folder)/agent.conf line 2 is not UTF-8")
    }
  }

  @Test(arguments: [UInt32(0o400), 0o440, 0o600, 0o640])
  func `a systemd credential may be readable by its owner or group`(mode: UInt32) async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/secret", "s3cret".utf8, mode: mode)
      let read = try await settings(
        ["--public-key", "K"], ["HOME": folder, "CREDENTIALS_DIRECTORY": folder])
      #expect(throws: Never.self) { try read.credentials() }
    }
  }

  @Test func `settings of the machine's file count as not given, those of the user's own file as given`() async throws {
    let given = Found<[Bool]>()
    let text = "requestor = X\nservice = https://x.example"
    let command = Command("try", "try", example: "x try") { call async throws in
      let found = try [DefaultServices.machinePath, "/home/me/.config/regent/agent.conf"].map { path in
        let conf = try AgentConf(text: text, path: path)
        return SettingsReader(call: call, conf: conf).isGiven(AgentOptions.requestor)
      }
      await given.keep(.success(found))
    }
    try await run(command, [], [:])
    #expect(try await given.result?.get() == [false, true])
    let read = try await settings(
      ["--requestor", "R"], ["HOME": "/", "REGENT_SERVICE": "http://a"])
    #expect(read.given == ["requestor", "service"])
  }

  @Test(
    arguments: [
      ("https://tv.example.org", "https://tv.example.org", nil, true),
      ("https://tv.example.org", "HTTPS://TV.EXAMPLE.ORG/D/X", nil, true),
      ("https://tv.example.org", "https://tv.example.org:8443/x", nil, true),
      ("https://tv.example.org", "http://tv.example.org", nil, false),
      ("http://tv.example.org", "https://tv.example.org", nil, true),
      ("https://tv.example.org", "https://tv.example.org.evil.com", nil, false),
      ("https://tv.example.org", "https://evil.com/tv.example.org", nil, false),
      ("https://tv.example.org", "https://tv.example.org@evil.com", nil, false),
      ("https://tv.example.org", "javascript://tv.example.org", nil, false),
      ("http://127.0.0.1:8787", "https://tv.example.org", "tv.example.org", true),
      ("http://127.0.0.1:8787", "https://tv.example.org", "other.example.org", false),
      ("http://127.0.0.1:8787", "http://0x7f.1/", nil, false),
      ("https://tv.example.org", "", nil, false),
    ] as [(String, String, String?, Bool)])
  func `a URL is shown only when its host is the service's or the configured public host`(
    service: String, address: String, publicHost: String?, expected: Bool
  ) throws {
    let check = AddressCheck(
      services: [try AbsoluteURL(parsing: service)],
      publicHost: publicHost.flatMap { HostName(parsing: $0) })
    #expect((check.drawable(address) != nil) == expected)
  }

  @Test(arguments: [
    ("https://tv.example.org", "tv.example.org"), ("https://tv.example.org/", "tv.example.org"),
    ("http://192.0.2.7:8787", "http://192.0.2.7:8787"),
    ("https://tv.example.org/pair", "tv.example.org/pair"),
  ])
  func `addresses are shown as people type them`(url: String, words: String) throws {
    #expect(AddressCheck.words(try AbsoluteURL(parsing: url)) == words)
  }

  @Test(arguments: [
    (Int64(1_800_000), Int64(0), Int64(1_800_000)), (1_000, 5_000_000_000, 1_800_000),
    (5_000_000_000_000, 0, 1_800_000), (600_000, 599_500, 1_800_000),
    (.min, 1_700_000_000_000, 1_800_000), (.max, -1, 1_800_000), (.min, .max, 1_800_000),
  ])
  func `an implausible lifetime of a code is replaced by half an hour`(expires: Int64, wall: Int64, left: Int64) {
    #expect(EnablerLink.remaining(expires, now: wall) == left)
  }

  /// The settings that result from a command line and environment.
  private func settings(
    _ arguments: [String], _ environment: [String: String]
  ) async throws -> AgentSettings {
    let found = Found<AgentSettings>()
    let command = Command("try", "try", example: "x try") { call async throws in
      await found.keep(Result { try AgentSettings(call) })
    }
    try await run(command, arguments, environment)
    guard let result = await found.result else { throw CommandError("not run") }
    return try result.get()
  }

  private func run(
    _ command: Command, _ arguments: [String], _ environment: [String: String]
  ) async throws {
    let program = Program(
      name: "x", version: "1", summary: "x", options: AgentOptions.all, rules: AgentOptions.rules,
      environmentPrefix: "REGENT_", commands: [.made(command)])
    let text = CapturedText()
    let code = await program.run(
      ["try"] + arguments, environment: Environment(environment),
      console: Console(output: text.stream(), errors: text.stream()))
    guard code == .done else { throw CommandError("\(code) \(text.text)") }
  }
}

private actor Found<Value: Sendable> {
  var result: Result<Value, any Error>?
  func keep(_ result: Result<Value, any Error>) { self.result = result }
}

@Suite struct `The agent's program` {
  @Test func `the program's declaration has no mistakes`() {
    let program = AgentProgram.program(
      version: "1", buildTime: 0, processID: 1, held: .init([]))
    #expect(program.declarationProblems == [])
  }

  @Test func `main.swift blocks the held signals before anything else`() throws {
    let main = String(
      decoding: try readFile("\(packageFolder())/Sources/regent/main.swift"), as: UTF8.self)
    let statements = main.split(separator: "\n").filter {
      !$0.hasPrefix("//") && !$0.hasPrefix("import ")
    }
    #expect(statements.first == "let heldSignals = HeldSignals(AgentProgram.heldSignals)")
  }

  @Test(arguments: ["regent.service", "regent-pair@.service"])
  func `the systemd units run in a sandbox`(unit: String) throws {
    guard installedProgram("systemd-analyze") != nil else { return }
    let result = try run(
      "systemd-analyze",
      ["security", "--offline=true", "--threshold=15", "\(packageFolder())/deploy/systemd/\(unit)"])
    #expect(result.status == 0, "\(result.outputText.suffix(500)) \(result.errorText)")
  }
}
