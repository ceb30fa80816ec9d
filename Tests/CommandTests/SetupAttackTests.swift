import Glibc
import TestSupport
import Testing

/// `regentctl setup` with a hostile settings file, and beside another setup.
@Suite struct `Setting up a service under difficult conditions` {
  private static let setup = "regentctl setup --settings settings --backups backups"

  private func withSettings(_ text: some Sequence<UInt8>, _ body: (Operator, String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/settings", text, mode: 0o640)
      #expect(unsafe mkdir("\(folder)/backups", 0o700) == 0)
      try withService(in: folder) { service in
        try shell.get(
          "echo 'a long enough password' | \(Self.setup) --requestor acme --provider cable --account anna")
        try body(shell, folder)
      }
    }
  }

  @Test func `setup keeps CRLF lines and bytes that are not UTF-8`() throws {
    let foreign =
      Array("# caf".utf8) + [0xE9] + Array("\r\nREGENT_LOG=json\r\n  REGENT_LISTEN=127.0.0.1:1\r\nX='1\r\n'\r\n".utf8)
    try withSettings(foreign) { shell, folder in
      try shell.get("\(Self.setup) --public-url http://tv:18787 --listen 127.0.0.1:18787 2>&1 < /dev/null")
      #expect(
        try readFile("\(folder)/settings")
          == Array("# caf".utf8) + [0xE9]
          + Array(
            "\r\nREGENT_LOG=json\r\nREGENT_LISTEN=127.0.0.1:18787\r\nX='1\r\n'\r\nREGENT_PUBLIC_URL=http://tv:18787\r\n"
              .utf8))
    }
  }

  @Test(arguments: [
    "hello:world", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:+8788", "127.0.0.1:65536", "127.0.0.1:00008788",
    "::1:8788", "[::1:8788", "[127.0.0.1]:8788", "tv.example.org:8788", ":8788", "unix:relative", "*:8788 x",
    "unix:/\(String(repeating: "x", count: 107))",
  ])
  func `setup refuses an address that the service could not listen on`(listen: String) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/settings", "REGENT_LOG=text\n".utf8, mode: 0o640)
      try withService(in: folder) { _ in
        let said = try shell.type(
          "\(Self.setup) --public-url https://tv.example.org --proxy --listen '\(listen)' < /dev/null")
        #expect(said.status == 2, "\(said.status) \(said.outputText)\(said.errorText)")
        #expect(said.errorText.contains("--listen"), "\(said.errorText)")
        #expect(try shell.get("cat settings") == "REGENT_LOG=text")
      }
    }
  }

  @Test func `setup refuses a public URL that is too long for a QR code`() throws {
    try withSettings("REGENT_LOG=text\n".utf8) { shell, _ in
      let long = "https://tv.example.org/\(String(repeating: "a", count: 600))"
      let said = try shell.type("\(Self.setup) --public-url \(long) --proxy < /dev/null")
      #expect(said.status == 2 && said.errorText.contains("is too long"), "\(said.errorText)")
      #expect(try shell.get("cat settings") == "REGENT_LOG=text")
    }
  }

  @Test func `setup stops without a change when its input ends at a question`() throws {
    try withSettings("REGENT_LOG=text\n".utf8) { shell, _ in
      let before = try shell.get("regentctl requestor list; regentctl invitation list; ls backups")
      // Return, then Ctrl-D: the next question has a default, too, which must not be used.
      for (answers, question) in [("", "address that phones open"), ("\\n", "requestor"), ("\\n\\n", "provider")] {
        let said = try shell.type("printf '\(answers)' | script -qec '\(Self.setup)' /dev/null")
        #expect(said.status == 1, "\(said.status): \(said.outputText)")
        #expect(said.outputText.contains("no answer to: ") && said.outputText.contains(question), "\(said.outputText)")
      }
      #expect(try shell.get("regentctl requestor list; regentctl invitation list; ls backups") == before)
    }
  }

  @Test func `a second setup at the same time is refused, and files left by a killed one are removed`() throws {
    try withSettings("REGENT_LOG=text\n".utf8) { shell, folder in
      let first = try RunningProgram(
        "/usr/bin/bash",
        [
          "-c",
          "cd '\(folder)' && (sleep 30; printf '\\n') | HOME='\(folder)' script -qec '\(try builtProgram("regentctl")) \(Self.setup.dropFirst(10))' /dev/null",
        ],
        standardOutput: "\(folder)/said")
      defer { first.signal(SIGKILL) }
      try eventually("the first one's question") {
        (try? readFile("\(folder)/said")).map { String(decoding: $0, as: UTF8.self).contains("that phones open") }
          == true
          ? true : nil
      }
      let second = try shell.type("\(Self.setup) --public-url http://tv:18787 < /dev/null")
      #expect(second.status == 1, "\(second.status): \(second.outputText)")
      #expect(second.errorText.contains("is being set up by process "), "\(second.errorText)")
      #expect(try shell.get("cat settings") == "REGENT_LOG=text")
      try shell.get("kill $(cat .settings.lock)")
      try shell.get("while kill -0 $(cat .settings.lock); do sleep 0.1; done 2> /dev/null")
      // A temporary file left by a killed setup is replaced and removed.
      try shell.get("printf x > .settings.new0; \(Self.setup) --public-url http://tv:18787 2>&1 < /dev/null")
      #expect(try shell.get("ls -A | grep '^.settings' || true") == "")
      #expect(try shell.get("cat settings").contains("REGENT_PUBLIC_URL=http://tv:18787"))
    }
  }
}

/// `regent setup` in folders that others may write to, and beside another setup.
@Suite struct `Setting up a box under difficult conditions` {
  /// Runs `body` with a box's folder and the command that sets it up.
  ///
  /// The test checks afterwards whether the code was used.
  private func withCode(_ body: (Operator, _ folder: String, _ setup: String) throws -> Void) throws {
    try withInvitation { shell, service, code in
      try shell.get("mkdir -m 700 box")
      try body(
        shell, shell.folder, "regent setup --config box/agent.conf --state state --service \(service) --code \(code)")
    }
  }

  private func isUnused(_ shell: Operator) throws -> Bool {
    try shell.get("regentctl invitation list --json").contains(#""uses":1"#)
      && !shell.get("regentctl key list acme").contains("calls")
  }

  @Test(arguments: [
    ("chmod 777 box", "chmod 1777 box && rm -f box/secret", "chmod 755"),
    ("chmod 775 box", "chmod 755 box", "chmod 755"),
    ("echo 'name = Den' > box/agent.conf; chmod 666 box/agent.conf", "chmod 644 box/agent.conf", "chmod 644"),
    ("echo 'name = Den' > box/real; ln -s real box/agent.conf", "rm box/agent.conf", "symbolic link"),
    ("echo x > box/real; ln -s real box/secret", "rm box/secret", "symbolic link"),
    ("mkdir box/secret", "rmdir box/secret", "is not a regular file"),
    ("mkdir box/agent.conf", "rmdir box/agent.conf", "is not a regular file"),
  ])
  func `an unsafe file or folder is refused before the enrolment code is used`(
    bad: String, mended: String, said: String
  ) throws {
    try withCode { shell, _, setup in
      try shell.get(bad)
      let refused = try shell.refusal(setup)
      #expect(refused.contains(said), "\(bad): \(refused)")
      #expect(try isUnused(shell), "\(bad): \(refused)")
      try shell.get("\(mended); \(setup)")
      #expect(try !isUnused(shell))
    }
  }

  @Test func `setup of a box keeps CRLF lines and bytes that are not UTF-8`() throws {
    try withCode { shell, folder, setup in
      try writeFile(
        "\(folder)/box/agent.conf", Array("# caf".utf8) + [0xE9] + Array("\r\nname = Den\r\n#requestor = x\r\n".utf8))
      try shell.get(setup)
      let found = try readFile("\(folder)/box/agent.conf")
      #expect(
        found.starts(
          with: Array("# caf".utf8) + [0xE9]
            + Array("\r\nname = Den\r\n#requestor = x\r\nrequestor = acme\r\nservice".utf8)))
      try shell.get("regent --config box/agent.conf --state state providers")
    }
  }

  @Test func `setup of a box does nothing when its input ends at the question`() throws {
    try withCode { shell, _, _ in
      let said = try shell.type(
        "script -qec 'regent setup --config box/agent.conf --state state' /dev/null < /dev/null")
      #expect(said.status == 1 && said.outputText.contains("no answer to: "), "\(said.status) \(said.outputText)")
    }
  }

  @Test func `a second setup of a box is refused, and files left by a killed one are removed`() throws {
    try withCode { shell, folder, setup in
      try shell.get("touch box/.secret.new0 box/.secret.new1 box/.agent.conf.new0 box/other")
      try shell.get("(python3 -c '\(Self.holding)' box/.agent.conf.lock > /dev/null 2>&1 & echo $! > holder; sleep 1)")
      defer { _ = try? shell.get("kill $(cat holder)") }
      let refused = try shell.type(setup)
      #expect(refused.status == 1 && refused.errorText.contains("is being set up by"), "\(refused.errorText)")
      #expect(try isUnused(shell))
      try shell.get("kill $(cat holder); sleep 0.5")
      try shell.get(setup)
      #expect(try shell.get("ls -A box | sort | tr '\\n' ' '") == "agent.conf other secret ")
    }
  }

  private static let holding = """
    import fcntl, os, signal, sys; os.umask(63); one = open(sys.argv[1], "w"); fcntl.flock(one, fcntl.LOCK_EX); signal.pause()
    """
}
