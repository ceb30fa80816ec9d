import Glibc
import TestSupport
import Testing

@Suite struct `regentd check` {
  @Test func `check finds a stopped service's data sound and does not open a running service's data`() throws {
    try withTemporaryFolder { folder in
      try withService(in: folder) { service in
        let busy = try check(folder)
        #expect(busy.status == 0)
        #expect(
          busy.outputText.hasSuffix(
            "database: skipped, because the service is running; use regentctl doctor\n"))
        service.program.signal(SIGTERM)
        _ = try service.program.wait()
      }
      let good = try check(folder)
      #expect(good.status == 0, "\(good.errorText)")
      #expect(
        good.outputText.contains("database: \(folder)/.local/state/regent/regent.db is intact\n"))
      #expect(good.outputText.hasSuffix("rows: all signatures are valid\naudit: the log is complete\n"))
      // A second check has the same result: the first left nothing behind.
      #expect(try check(folder).outputText == good.outputText)
    }
  }

  @Test func `check changes no file`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      let temporary = "mkdir -p temporary && TMPDIR=$HOME/temporary regentd check"
      // With no database yet, check makes no folder; that is left to the first start.
      #expect(try shell.get(temporary).contains("database: "))
      #expect(try shell.type("test -e .local").status == 1)
      // A service that was killed, with its last changes in the log.
      try withService(in: folder) { _ in try shell.get("regentctl requestor add acme") }
      #expect(try shell.type("test -s \(shell.state)/regent.db-wal").status == 0)
      let traces = "cd \(shell.state) && stat -c '%n %i %s %Y' * | grep -v lock && sha256sum *.db*l"
      let before = try shell.get(traces)
      #expect(try shell.get(temporary).contains("rows: all signatures are valid"))
      #expect(try shell.get(traces) == before)
      #expect(try shell.get("ls -A temporary") == "")
    }
  }

  @Test func `check finds rows that were changed from outside`() throws {
    try withTemporaryFolder { folder in
      try stopped(folder) {
        _ = try regentctl(folder, ["requestor", "add", "acme"])
      }
      let change =
        "import sqlite3; c = sqlite3.connect('\(folder)/.local/state/regent/regent.db'); "
        + "c.execute(\"UPDATE requestor SET name = 'Evil'\"); c.commit()"
      #expect(try run("python3", ["-c", change]).status == 0)
      let found = try check(folder)
      #expect(found.status == 1)
      #expect(found.errorText.contains("1 row was changed by another program"))
      #expect(found.errorText.contains("hint: "))
    }
  }

  @Test func `check finds a damaged database file and a wrong master key`() throws {
    try withTemporaryFolder { folder in
      try stopped(folder) {}
      let state = "\(folder)/.local/state/regent"
      let key = try readFile("\(state)/master-key")
      try writeFile("\(state)/master-key", Array(String(repeating: "0", count: 64).utf8))
      let locked = try check(folder)
      #expect(locked.status == 1)
      #expect(locked.errorText.contains("master key"))
      try writeFile("\(state)/master-key", key)
      var bytes = try readFile("\(state)/regent.db")
      for place in 4096..<min(bytes.count, 60_000) { bytes[place] = 0xFF }
      try writeFile("\(state)/regent.db", bytes)
      let damaged = try check(folder)
      #expect(damaged.status == 1)
      #expect(damaged.errorText.hasPrefix("regentd: "))
      #expect(!damaged.outputText.contains("sound"))
    }
  }

  /// Runs a service in the folder, and stops it with SIGTERM.
  private func stopped(_ folder: String, _ body: () throws -> Void) throws {
    try withService(in: folder) { service in
      try body()
      service.program.signal(SIGTERM)
      _ = try service.program.wait()
    }
  }

  private func check(_ folder: String) throws -> FinishedProgram {
    try run(
      try builtProgram("regentd"), ["check", "--web", "\(packageFolder())/web"],
      environment: ["HOME": folder])
  }

  private func regentctl(_ folder: String, _ words: [String]) throws -> FinishedProgram {
    try run(try builtProgram("regentctl"), words, environment: ["HOME": folder])
  }
}
