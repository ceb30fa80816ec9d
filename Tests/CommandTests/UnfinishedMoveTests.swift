import PostgreSQLTestSupport
import TestSupport
import Testing

/// A move that was killed between writing its mark and its commit: the server's database is still empty.
@Suite struct `A server that an interrupted move has not filled` {
  /// Runs `story` with the file and the mark of a killed move, and with a backup in `copy.db`.
  private func withMark(_ story: (Operator, PostgreSQLServer, _ url: String) throws -> Void) throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try shell.makeBackup()
      // Only the last statement before the COMMIT changes a row of this table.
      try shell.cutMove(at: "cluster", on: server)
      try shell.get("test -e \(shell.state)/regent.db.moving")
      try story(shell, server, server.socketURL)
    }
  }

  private func keys(_ shell: Operator, _ server: PostgreSQLServer) throws -> String {
    try shell.ask(server, "SELECT count(*) FROM data_key")
  }

  @Test func `no service uses the server until the interrupted move is completed or its marker file removed`() throws {
    try withMark { shell, server, url in
      for command in ["serve --listen 127.0.0.1:0", "check"] {
        let refused = try shell.refusal("regentd \(command) --database '\(url)'")
        #expect(refused.contains("a move of \(shell.state)/regent.db to \(url) was interrupted"), "\(refused)")
        #expect(refused.contains("hint: finish it: regentd move --to"), "\(refused)")
        #expect(refused.contains("run rm \(shell.state)/regent.db.moving"), "\(refused)")
      }
      #expect(try shell.refusal("regentd restore copy.db --database '\(url)'").contains("was interrupted"))
      #expect(try keys(shell, server) == "0")
      let finished = try shell.get("regentd move --to '\(url)'")
      #expect(finished.contains("tables are on the server, all verified"), "\(finished)")
      try withService("--database", url, in: shell.folder) { service in
        try shell.get("regentctl requestor show acme")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      // The server has lost everything: a moved file prevents a new start there, and a backup may be restored.
      _ = try shell.ask(server, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
      let lost = try shell.refusal("regentd serve --listen 127.0.0.1:0 --database '\(url)'")
      #expect(lost.contains("“regent” of the server has no rows, but the database"), "\(lost)")
      #expect(lost.contains("run rm \(shell.state)/regent.db.moved"), "\(lost)")
      try shell.get("regentd restore copy.db --database '\(url)'")
      try withService("--database", url, in: shell.folder) { _ in try shell.get("regentctl requestor show acme") }
    }
  }

  @Test func `a service on the server completes a move that was killed after its commit`() throws {
    let server = try PostgreSQLServer()
    try withTemporaryFolder { folder in
      let (shell, url) = (Operator(folder: folder), server.socketURL)
      try shell.makeBackup()
      try shell.setStandby("away", on: server)
      let move = try shell.begin("regentd", ["move", "--to", url])
      try shell.awaitWait("SyncRep", on: server)
      try move.cut()
      try shell.setStandby("", on: server)
      try shell.get("test -e \(shell.state)/regent.db -a -e \(shell.state)/regent.db.moving")
      try withService("--database", url, in: shell.folder) { service in
        try shell.get("regentctl requestor show acme")
        service.program.signal(15)
        #expect(try service.program.wait() == 0)
      }
      try shell.get("test ! -e \(shell.state)/regent.db -a ! -e \(shell.state)/regent.db.moving")
      try shell.get("ls \(shell.state)/regent.db.before-*")
      let refused = try shell.refusal("regentd serve --listen 127.0.0.1:0")
      #expect(refused.contains("was moved to \(url)"), "\(refused)")
    }
  }

  @Test func `a service starts a new database on the server once the marker file of the move is removed`() throws {
    try withMark { shell, server, url in
      try shell.get("sed -i s/away/here/ \(shell.state)/regent.db.moving")
      let refused = try shell.refusal("regentd serve --listen 127.0.0.1:0 --database '\(url)'")
      #expect(refused.contains("a move to \(shell.state)/regent.db from \(url) was interrupted"), "\(refused)")
      #expect(refused.contains("run rm \(shell.state)/regent.db.moving to use the file's rows"), "\(refused)")
      try shell.get("rm \(shell.state)/regent.db.moving")
      try withService("--database", url, in: shell.folder) { _ in
        _ = try shell.refusal("regentctl requestor show acme")
      }
      #expect(try keys(shell, server) != "0")
    }
  }
}
