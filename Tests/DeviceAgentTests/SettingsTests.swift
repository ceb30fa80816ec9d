import CommandKit
import Cryptography
import HTTPCodec
import Platform
import TestSupport
import Testing

@testable import DeviceAgent

@Suite struct `Settings` {
  @Test func `come from options, variables and the file, in that order`() async throws {
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
      #expect(read.allowances.count == 1)
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
  func `that cannot be read are refused with the line`(text: String) async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/agent.conf", text.utf8)
      await #expect(throws: CommandError.self) {
        try await settings(["--config", "\(folder)/agent.conf"], ["HOME": folder])
      }
    }
  }

  @Test func `that others can write are refused`() async throws {
    try await withTemporaryFolder { folder in
      try writeFile("\(folder)/agent.conf", "requestor = X".utf8, mode: 0o666)
      await #expect(throws: CommandError.self) {
        try await settings(["--config", "\(folder)/agent.conf"], ["HOME": folder])
      }
    }
  }

  @Test func `a secret that others can read is refused`() async throws {
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
  func `decide which addresses are shown`(
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
  func `a clock that cannot be right is not believed`(expires: Int64, wall: Int64, left: Int64) {
    #expect(EnablerLink.remaining(expires, wall: wall) == left)
  }

  /// The settings that a command line amounts to.
  private func settings(
    _ arguments: [String], _ environment: [String: String]
  ) async throws -> AgentSettings {
    let found = Found()
    let command = Command("try", "try", example: "x try") { call async throws in
      await found.keep(Result { try AgentSettings(call) })
    }
    let program = Program(
      name: "x", version: "1", summary: "x", options: AgentOptions.all, rules: AgentOptions.rules,
      environmentPrefix: "REGENT_", commands: [command])
    let text = WrittenText()
    let code = await program.run(
      ["try"] + arguments, environment: Environment(environment),
      console: Console(output: text.port(), errors: text.port()))
    guard let result = await found.result else { throw CommandError("\(code) \(text.text)") }
    return try result.get()
  }
}

private actor Found {
  var result: Result<AgentSettings, any Error>?
  func keep(_ result: Result<AgentSettings, any Error>) { self.result = result }
}

@Suite struct `The program` {
  @Test func `is declared without mistakes`() {
    let program = AgentProgram.program(
      version: "1", buildTime: 0, processID: 1, held: .init([]))
    #expect(program.declarationProblems == [])
  }

  @Test(arguments: ["regent.service", "regent-pair@.service"])
  func `runs in a sandbox`(unit: String) throws {
    guard installedProgram("systemd-analyze") != nil else { return }
    let result = try run(
      "systemd-analyze",
      ["security", "--offline=true", "--threshold=15", "\(packageFolder())/deploy/systemd/\(unit)"])
    #expect(result.status == 0, "\(result.outputText.suffix(500)) \(result.errorText)")
  }
}
