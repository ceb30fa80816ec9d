import Glibc
import TestSupport
import Testing

/// `regent setup` at a terminal, and what a box that was not set up reports.
@Suite struct `Setting up a box by hand` {
  private func typed(_ shell: Operator, _ lines: [String], _ words: String = "") throws -> FinishedProgram {
    let typed = lines.map { "'\($0)'" }.joined(separator: " ")
    return try shell.type(
      "printf '%s\\n' \(typed) | script -qec 'regent setup --config box/agent.conf --state state \(words)' /dev/null")
  }

  @Test func `setup asks again after a wrong entry, but not without end`() throws {
    try withInvitation { shell, service, code in
      let said = try typed(shell, ["7K3M", "", ":// #\(code)", code, "a b", service])
      #expect(said.outputText.contains("this box is enrolled for acme"), "\(said.outputText)")
      for (line, count) in [
        ("this is not an enrolment code", 1), ("no answer to: enrolment code", 1),
        ("the text before # is not a web address", 1),
        ("this is not a web address", 1),
      ] {
        #expect(
          said.outputText.split(separator: line, omittingEmptySubsequences: false).count == count + 1,
          "\(line): \(said.outputText)")
      }
      // The questions end after some wrong entries, and a wrong option causes no question.
      let stubborn = try typed(shell, Array(repeating: "7K3M", count: 9))
      #expect(stubborn.status == 2)
      let option = try typed(shell, [code], "--code 7K3M")
      #expect(option.status == 2 && !option.outputText.contains("enrolment code:"), "\(option.outputText)")
    }
  }

  @Test func `setup reads the enrolment code from standard input, which hides it from other users`() throws {
    try withInvitation { shell, service, code in
      let setup = "regent setup --config box/agent.conf --state state --code -"
      for (typed, said) in [
        ("", "enrolment code is missing"), ("ABC", "this is not an enrolment code"),
        ("\(service)#\(code)", "this box is enrolled for acme"),
      ] {
        let heard = try shell.type("printf '\(typed)' | \(setup) 2>&1").outputText
        #expect(heard.contains(said), "\(heard)")
      }
    }
  }

  @Test func `setup lets no other process of its user read its memory and writes no core file`() throws {
    try withTemporaryFolder { folder in
      // The program waits for the code. The /proc files of a process that must not be traced belong to root, not to
      // its user.
      let said = try Operator(folder: folder).get(
        """
        mkfifo in; as=; test "$(id -u)" != 0 || as="setpriv --reuid 65534 --regid 65534 --clear-groups"
        $as regent setup --config /nowhere/agent.conf --code - < in > said 2>&1 & box=$!
        exec 3> in; for turn in $(seq 100); do
          grep -q 'Max core file size *0 *0 ' /proc/$box/limits && break; sleep 0.05
        done
        stat -c 'memory of %u' /proc/$box/environ; grep 'Max core' /proc/$box/limits | tr -s ' '; kill $box
        """)
      #expect(said.contains("memory of 0\n") && said.contains("Max core file size 0 0"), "\(said)")
    }
  }

  @Test func `setup with the same values leaves the settings file unchanged`() throws {
    try withInvitation { shell, service, code in
      try shell.get(
        "mkdir -m 700 box && printf '# Den\\n#service = https://x\\nname = Den\\n' > box/agent.conf && chmod 600 box/agent.conf"
      )
      let setup = "regent setup --config box/agent.conf --state state --service \(service)"
      try shell.get("\(setup) --code \(code)")
      let first = try shell.get("cat box/agent.conf")
      try shell.get("\(setup) --code \(code)")
      #expect(try shell.get("cat box/agent.conf") == first)
      // Another code brings another key pair, which replaces the first.
      for _ in 0..<2 {
        try shell.get(
          "\(setup) --code $(regentctl requestor invite acme | awk '$1 == \"code\" { print $2 }')")
      }
      let last = try shell.get("cat box/agent.conf")
      #expect(last.split(separator: "\n").count == first.split(separator: "\n").count, "\(last)")
      #expect(last.hasPrefix("# Den\n#service = https://x\nservice = ") && last != first, "\(last)")
    }
  }

  @Test func `setup reports progress for an address that does not respond, and ends within 15 seconds with a hint`()
    throws
  {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/hole.py", Self.hole.utf8)
      let hole = try RunningProgram("/usr/bin/python3", ["\(folder)/hole.py"], standardOutput: "\(folder)/port")
      defer { hole.signal(SIGKILL) }
      let port: Substring = try eventually("the hole") {
        let text = (try? readFile("\(folder)/port")).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return text.hasSuffix("\n") ? text.dropLast() : nil
      }
      let service = "http://127.0.0.1:\(port)"
      let said = try shell.type(
        "SECONDS=0; script -qec 'regent setup --config box/agent.conf --state state --service \(service) "
          + "--code 7K3M-Q0ZD-4RXW-81HP' /dev/null < /dev/null; echo \"end $? $SECONDS\"")
      let text = said.outputText
      #expect(text.contains("asking \(service), for 20 s at most … 1 s"), "\(text)")
      let end = try #require(text.split(separator: "end ").last).split(separator: " ")
      #expect(end.first == "6", "\(text)")
      #expect(try #require(Int(end[1].prefix { $0.isNumber })) < 15, "\(text)")
      #expect(text.contains("check the address and its port, and for a firewall in between"), "\(text)")

      // Other commands report it in the same way.
      try shell.get("printf 'a-secret\\n' > secret && chmod 600 secret")
      let status = try shell.type(
        "script -qec 'regent --service \(service) --requestor acme --public-key k --secret-file secret --state state "
          + "providers' /dev/null < /dev/null")
      #expect(status.outputText.contains("asking \(service)"), "\(status.outputText)")
      #expect(status.outputText.contains("check the network and the service's address"), "\(status.outputText)")
    }
  }

  @Test func `doctor says that a box is not set up yet and how to do it`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let said = try shell.type("regent doctor")
      #expect(said.status == 1)
      #expect(said.outputText.contains("BAD   settings: this box is not set up yet"), "\(said.outputText)")
      #expect(said.outputText.contains("hint: run regent setup"), "\(said.outputText)")
      #expect(said.outputText.contains("regentctl requestor invite"), "\(said.outputText)")
      for command in ["pair", "status", "providers"] {
        let refused = try shell.refusal("regent \(command)")
        #expect(refused.contains("regent setup"), "\(refused)")
      }
    }
  }

  /// A listener whose queue is full, so that a connection gets no response.
  private static let hole = """
    import signal, socket
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(0)
    waiting = []
    for _ in range(4):
      one = socket.socket()
      one.setblocking(False)
      one.connect_ex(server.getsockname())
      waiting.append(one)
    print(server.getsockname()[1], flush=True)
    signal.pause()

    """
}
