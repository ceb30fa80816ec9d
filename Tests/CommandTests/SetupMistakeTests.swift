import Glibc
import TestSupport
import Testing

/// Mistakes of a new operator while a service is set up: each is explained, and setup goes on from there.
@Suite struct `Mistakes during setup of a service` {
  private static let setup = "regentctl setup --settings settings --backups backups"

  /// A folder with settings, and a service with records, so that setup asks for no password.
  private func withSetUp(_ body: (Operator, String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/settings", "REGENT_LOG=text\n".utf8, mode: 0o600)
      #expect(unsafe mkdir("\(folder)/backups", 0o700) == 0)
      try withService(in: folder) { service in
        try shell.get(
          "echo 'a long enough password' | \(Self.setup) --requestor acme --provider cable --account anna --allow '*'")
        try body(shell, service.url)
      }
    }
  }

  /// Types lines at a terminal.
  private func typed(_ shell: Operator, _ lines: [String], _ command: String = setup) throws -> FinishedProgram {
    let words = lines.map { "'\($0)'" }.joined(separator: " ")
    return try shell.type("printf '%s\\n' \(words) | script -qec '\(command)' /dev/null")
  }

  @Test func `a wrong answer is explained and the question is asked again`() throws {
    try withSetUp { shell, _ in
      let said = try typed(
        shell,
        [
          "nonsense", "192.168.1.2", "http://LAN-ADDRESS:8787", "", "bad id", "acme", "bad id", "cable", "maybe",
          "none",
        ])
      #expect(said.status == 0, "\(said.outputText)")
      for (line, count) in [
        ("nonsense is not a web address", 1), ("type it as http://192.168.1.2", 1),
        ("LAN-ADDRESS is a placeholder", 1),
        ("bad id is not a valid name", 2), ("maybe is not one of the answers", 1),
        ("requestor: a short id for the publisher of the apps", 2),
      ] {
        #expect(said.outputText.components(of: line) == count, "\(line): \(said.outputText)")
      }
    }
  }

  @Test func `the questions end after five wrong answers, and a wrong option ends setup at once`() throws {
    try withSetUp { shell, _ in
      let said = try typed(shell, Array(repeating: "nonsense", count: 9))
      #expect(said.status == 2, "\(said.status)")
      #expect(said.outputText.components(of: "nonsense is not a web address") == 5, "\(said.outputText)")
      let option = try typed(shell, [""], "\(Self.setup) --public-url http://LAN-ADDRESS:8787")
      #expect(option.status == 2 && !option.outputText.contains("that phones open"), "\(option.outputText)")
    }
  }

  @Test func `an address of another machine is refused unless the operator insists`() throws {
    try withSetUp { shell, _ in
      for host in ["10.255.254.253", "[fd12:3456:789a::1]"] {
        let said = try shell.refusal("\(Self.setup) --public-url http://\(host):8787 < /dev/null")
        #expect(said.contains("\(host) is not an address of this machine"), "\(said)")
        #expect(said.contains("--elsewhere"), "\(said)")
        for own in try shell.get("hostname -I").split(separator: " ").prefix(1) {
          #expect(said.contains(own), "\(own): \(said)")
        }
      }
      #expect(try shell.get("cat settings") == "REGENT_LOG=text")
      // Accepted: a host name, a public address that a router may forward, and a private one with --elsewhere.
      for words in [
        "http://tv:18787", "http://203.0.113.7:18787", "http://10.255.254.253:18787 --elsewhere",
        "https://10.255.254.252 --proxy --elsewhere",
      ] {
        let said = try shell.get("\(Self.setup) --public-url \(words) 2>&1 < /dev/null")
        #expect(said.contains("+ REGENT_PUBLIC_URL=\(words.split(separator: " ")[0])"), "\(said)")
      }
      // At a terminal the operator is warned once; the same address typed again is accepted.
      let other = "http://10.255.254.254:18788"
      let said = try typed(shell, [other, other, "", "", ""])
      #expect(
        said.status == 0 && said.outputText.components(of: "is not an address of this machine") == 1,
        "\(said.outputText)")
      #expect(try shell.get("cat settings").contains("REGENT_PUBLIC_URL=\(other)"))
    }
  }

  @Test func `a port that another program uses is named, and setup moves the service to another`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let holder = try PortHolder(folder)
      defer { holder.program.signal(SIGKILL) }
      let taken = holder.port
      let free = try freePort()
      let start = "# where\nREGENT_LISTEN=127.0.0.1:\(taken)\n"
      try writeFile("\(folder)/settings", start.utf8, mode: 0o600)
      let taking = "127.0.0.1:\(taken) is already used by python3 (process \(holder.program.pid))"

      // The service does not run yet. The reason is given, with a hint.
      let why = try shell.refusal("\(Self.setup) < /dev/null")
      #expect(why.contains(taking) && why.contains("--listen 127.0.0.1:"), "\(why)")
      let same = try shell.refusal("\(Self.setup) --listen '*:\(taken)' < /dev/null")
      #expect(same.contains("*:\(taken) is already used by python3"), "\(same)")
      #expect(try shell.get("cat settings") + "\n" == start)
      let moved = try shell.type("\(Self.setup) --listen 127.0.0.1:\(free) < /dev/null")
      #expect(moved.outputText.contains("+ REGENT_LISTEN=127.0.0.1:\(free)"), "\(moved.outputText) \(moved.errorText)")
      #expect(moved.errorText.contains("the service is not running"), "\(moved.errorText)")
      #expect(try shell.get("cat settings") == "# where\nREGENT_LISTEN=127.0.0.1:\(free)")

      // At a terminal a free port is offered, and Return accepts it.
      try writeFile("\(folder)/settings", start.utf8, mode: 0o600)
      let asked = try typed(shell, ["127.0.0.1:\(taken)", ""])
      let question = "another address and port for the service to listen on"
      #expect(asked.outputText.components(of: question) == 2, "\(asked.outputText)")
      let settings = try shell.get("cat settings")
      #expect(settings.hasPrefix("# where\nREGENT_LISTEN=127.0.0.1:") && settings + "\n" != start, "\(settings)")

      // A running service is not moved to that port, either.
      try writeFile("\(folder)/settings", "REGENT_LOG=text\n".utf8, mode: 0o600)
      #expect(unsafe mkdir("\(folder)/backups", 0o700) == 0)
      try withService(in: folder) { _ in
        let led = try shell.refusal("\(Self.setup) --public-url http://127.0.0.1:\(taken) < /dev/null")
        #expect(led.contains(taking) && led.contains("--public-url http://127.0.0.1:"), "\(led)")
        #expect(try shell.get("cat settings") == "REGENT_LOG=text")
        let alone = try shell.get("\(Self.setup) --listen 127.0.0.1:\(free) 2>&1 < /dev/null")
        #expect(alone.contains("+ REGENT_LISTEN=127.0.0.1:\(free)"), "\(alone)")
      }
    }
  }

  @Test func `setup again with other values leaves no settings of the earlier ones`() throws {
    try withSetUp { shell, _ in
      let ways = [
        "--public-url http://tv:18787", "--public-url https://tv.example.org --proxy",
        "--public-url https://tv.example.org:8443 --certificate /c.pem --certificate-key /k.pem",
        "--public-url https://tv.example.org:8443 --certificate /d.pem --certificate-key /l.pem",
      ]
      var texts: [[String]] = []
      for _ in 0..<3 {
        texts.append(
          try ways.map { way in
            try shell.get("\(Self.setup) \(way) > /dev/null 2>&1 < /dev/null; cat settings")
          })
      }
      #expect(texts[1] == texts[2], "\(texts)")
    }
  }
}

/// Another program that listens on the service's port.
private struct PortHolder {
  let program: RunningProgram
  let port: UInt16

  init(_ folder: String) throws {
    try writeFile(
      "\(folder)/hold.py",
      """
      import signal, socket
      server = socket.create_server(("127.0.0.1", 0))
      print(server.getsockname()[1], flush=True)
      signal.pause()

      """.utf8)
    program = try RunningProgram("/usr/bin/python3", ["\(folder)/hold.py"], standardOutput: "\(folder)/port")
    port = try eventually("the port that is held") {
      let text = (try? readFile("\(folder)/port")).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return text.hasSuffix("\n") ? UInt16(text.dropLast()) : nil
    }
  }
}

extension String {
  fileprivate func components(of part: String) -> Int {
    split(separator: part, omittingEmptySubsequences: false).count - 1
  }
}
