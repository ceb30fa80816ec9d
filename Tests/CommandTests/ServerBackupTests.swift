import Glibc
import PostgreSQLTestSupport
import TestSupport
import Testing

/// `regentd check`, `backup` and `restore` with a PostgreSQL database.
@Suite struct `Backup and restore of a PostgreSQL database` {
  @Test func `a backup of a server is restored into an empty database or into a file, without its pending codes`()
    throws
  {
    let server = try PostgreSQLServer()
    let url = server.socketURL
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      var waiting = ""
      try withService("--database", url, in: folder) { service in
        try shell.provisionSample()
        let box = try ShellBox(shell, service, key: "key")
        try shell.approve(box.code(device: "box-1"))
        #expect(try box.signIn(device: "box-1").status == 200)
        waiting = try box.code(device: "box-2")
        let made = try shell.get("regentd backup copy.db --database '\(url)'")
        #expect(made.hasPrefix("copy.db: ") && made.contains("rows, verified"), "\(made)")
        #expect(try shell.refusal("regentd backup copy.db --database '\(url)'").contains("copy.db already exists"))
        #expect(try shell.refusal("regentd restore copy.db --database '\(url)'").contains("another service uses"))
        #expect(try shell.get("regentctl backup own.db").contains("verified"))
        try shell.get("regentctl requestor add later")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      #expect(try shell.refusal("regentd restore copy.db --database '\(url)'").contains("the database is not empty"))
      #expect(try shell.refusal("regentd backup other.db").contains("regentctl backup other.db"))
      _ = try shell.ask(server, "CREATE DATABASE second")
      let second = String(url.dropLast(6)) + "second"
      #expect(try shell.get("regentd check --database '\(second)'").contains("database: "))
      #expect(try shell.refusal("regentd backup none.db --database '\(second)'").contains("there are no tables"))
      #expect(try shell.type("test -e none.db").status != 0)
      // A flipped bit, and another master key.
      try shell.get("cp copy.db bad.db && printf '\\001' | dd of=bad.db bs=1 seek=5000 conv=notrunc status=none")
      #expect(try shell.refusal("regentd restore bad.db --database '\(second)'").contains("bad.db is damaged"))
      try shell.get("head -c 32 /dev/urandom > other-key && chmod 600 other-key")
      let locked = try shell.refusal("regentd restore copy.db --master-key other-key --database '\(second)'")
      #expect(locked.contains("was made with another master key"), "\(locked)")
      #expect(try shell.get("regentd check --database '\(second)'").contains("database: "))

      let restored = try shell.get("regentd restore copy.db --database '\(second)'")
      #expect(restored.contains("“second” of the server is restored from copy.db"), "\(restored)")
      try holds(shell, waiting, "--database", second)
      // The backup that the running service made, restored into a file.
      try shell.get("regentctl restore own.db --yes")
      try holds(shell, waiting)
    }
  }

  @Test func `a restored backup has its own time and its nodes' statistics, not those from before the move`() throws {
    let server = try PostgreSQLServer()
    let url = server.socketURL
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      // Times are reported in seconds.
      func now() throws -> String {
        func second() throws -> String { try shell.get("date -u +%Y-%m-%dT%H:%M:%SZ") }
        let begun = try second()
        return try eventually("the next second") {
          let now = try second()
          return now > begun ? now : nil
        }
      }
      try shell.makeBackup()
      try shell.get("regentd move --to '\(url)'")
      let moved = try now()
      try withService("--database", url, in: folder) { service in
        try shell.get("regentctl key issue acme --json > key")
        let box = try ShellBox(shell, service, key: "key")
        for device in 1...3 { _ = try box.code(device: "box-\(device)") }
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      let stopped = try now()
      try shell.get("regentd backup copy-2.db --database '\(url)'")
      func time(_ text: String, after mark: String) throws -> String {
        let end = try #require(text.firstRange(of: mark), "\(text)").upperBound
        return String(text[end...].prefix(stopped.count))
      }
      func check(_ said: String, _ options: String...) throws {
        let taken = try time(said, after: "those of the backup, taken at ")
        #expect(taken >= moved && taken < stopped, "\(taken), moved at \(moved), stopped at \(stopped)")
        func look(_ service: RegentdProcess) throws {
          let made = try time(try shell.get("regentctl doctor || true"), after: "backup: the last backup was made at ")
          #expect(made >= stopped, "\(made), stopped at \(stopped)")
          #expect(try shell.get("regentctl stats --json").contains(#""started":3,"#))
          service.program.signal(15)
          #expect(try service.program.wait() == 0)
        }
        guard options.count == 2 else { return try withService(in: folder, look) }
        try withService(options[0], options[1], in: folder, look)
      }
      _ = try shell.ask(server, "CREATE DATABASE second")
      let second = String(url.dropLast(6)) + "second"
      try check(shell.get("regentd restore copy-2.db --database '\(second)'"), "--database", second)
      try shell.get("rm \(shell.state)/regent.db.moved")
      try check(shell.get("regentctl restore copy-2.db"))
    }
  }

  /// Checks that the box is still signed in, and that the pending code and the later requestor are gone.
  private func holds(_ shell: Operator, _ code: String, _ options: String...) throws {
    func look(_ service: RegentdProcess) throws {
      let box = try ShellBox(shell, service, key: "key")
      #expect(try box.signIn(device: "box-1").status == 200)
      #expect(try shell.type("regentctl code approve \(code) --provider cable --account anna").status != 0)
      #expect(try !shell.get("regentctl requestor list").contains("later"))
      #expect(try shell.get("regentctl audit tail").contains("backup.restore database"))
      service.program.signal(15)
      #expect(try service.program.wait() == 0)
    }
    guard options.count == 2 else { return try withService(in: shell.folder, look) }
    try withService(options[0], options[1], in: shell.folder, look)
  }

  @Test func `a restore to a server that is killed leaves an empty database, or everything`() throws {
    let server = try PostgreSQLServer()
    let url = server.socketURL
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.makeBackup()
      let words = ["restore", "\(folder)/copy.db", "--database", url]
      // The tables exist and are empty, so that a lock can stop the restore in the middle: the audit log is one of
      // the last tables.
      try shell.get("regentd restore copy.db --database '\(url)'")
      let names = "SELECT string_agg(tablename, ', ') FROM pg_tables WHERE schemaname = 'public'"
      _ = try shell.ask(server, "TRUNCATE \(shell.ask(server, "\(names) AND tablename <> 'cluster'"))")
      let holder = try shell.hold("audit", "SHARE", on: server)
      let first = try shell.begin("regentd", words)
      try shell.awaitWait("Lock", on: server)
      try first.cut()
      try shell.letGo(holder, on: server)
      #expect(try shell.ask(server, "SELECT (SELECT count(*) FROM data_key) + (SELECT count(*) FROM audit)") == "0")
      // At the very end: the server has committed, but the restore was not told.
      try shell.setStandby("away", on: server)
      let second = try shell.begin("regentd", words)
      try shell.awaitWait("SyncRep", on: server)
      try second.cut()
      try shell.setStandby("", on: server)
      let again = try shell.refusal("regentd restore copy.db --database '\(url)'")
      #expect(again.contains("the database is not empty"), "\(again)")
      try withService("--database", url, in: folder) { _ in try shell.get("regentctl requestor show acme") }
    }
  }

  @Test func `check finds rows that were changed or deleted and missing audit lines, and changes nothing`() throws {
    let server = try PostgreSQLServer()
    let url = server.socketURL
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService("--database", url, in: folder) { service in
        try shell.provisionSample()
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      let check = "regentd check --database '\(url)'"
      let rows = "SELECT CAST(audit AS TEXT) AS t FROM audit UNION ALL SELECT CAST(lane AS TEXT) FROM lane"
      let state = "SELECT md5(string_agg(t, '' ORDER BY t)) FROM (\(rows)) AS found"
      let before = try shell.ask(server, state)
      let good = try shell.get(check)
      #expect(good.contains("database: “regent” of the server has the expected tables"), "\(good)")
      #expect(good.hasSuffix("rows: all signatures are valid\naudit: the log is complete"), "\(good)")
      func finds(_ change: String, _ words: String, undo: String) throws {
        _ = try shell.ask(server, change)
        let found = try shell.type(check)
        #expect(found.status == 1 && found.errorText.contains(words), "\(change): \(found.errorText)")
        _ = try shell.ask(server, undo)
      }
      try finds(
        "UPDATE account SET attributes = attributes || ' '", "1 row was changed by another program",
        undo: "UPDATE account SET attributes = rtrim(attributes)")
      try finds(
        "CREATE TABLE gone AS SELECT * FROM provider; DELETE FROM provider",
        "1 row of account stands on a row of provider",
        undo: "INSERT INTO provider SELECT * FROM gone; DROP TABLE gone")
      try finds(
        "CREATE TABLE gone AS SELECT * FROM audit WHERE number = 2; DELETE FROM audit WHERE number = 2",
        "the audit log was changed by another program: line 2 is missing",
        undo: "INSERT INTO audit SELECT * FROM gone; DROP TABLE gone")
      let version = try shell.ask(server, "SELECT schema FROM cluster")
      try finds(
        "UPDATE cluster SET schema = 99", "the database has tables of version 99",
        undo: "UPDATE cluster SET schema = \(version)")
      #expect(try shell.get(check) == good)
      #expect(try shell.ask(server, state) == before)
      // Changed rows are not copied into a backup or by a move.
      _ = try shell.ask(server, "UPDATE account SET attributes = attributes || ' '")
      for command in ["backup copy.db --database '\(url)'", "move --from '\(url)'"] {
        let refused = try shell.refusal("regentd \(command)")
        #expect(refused.contains("1 row of the database was changed by another program; nothing was"), "\(refused)")
      }
      #expect(try shell.get("ls; ls \(shell.state)").split(separator: "\n").filter { $0.hasSuffix(".db") }.isEmpty)
    }
  }
}
