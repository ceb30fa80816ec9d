import TestSupport
import Testing

@Suite struct `A database that was lost` {
  @Test func `the service does not replace a lost database by an empty one, until the operator says so`() throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try withService(in: folder) { _ in try shell.get("regentctl requestor add acme && regentctl backup copy.db") }
      try shell.get("cd \(shell.state) && rm -f regent.db regent.db-wal regent.db-shm")
      let refused = try shell.refusal("timeout 30 regentd serve --listen 127.0.0.1:0")
      #expect(refused.contains("the database \(shell.state)/regent.db is missing; the service had one here before"))
      #expect(refused.contains("hint: restore the last backup: regentctl restore FILE"), "\(refused)")
      #expect(try shell.type("test -e \(shell.state)/regent.db").status == 1)
      // A restore is possible in this state.
      try shell.get("regentd restore copy.db --yes")
      try withService(in: folder) { _ in
        let restored = try shell.get("regentctl requestor list")
        #expect(restored.contains("acme"))
      }
      // The command of the hint leads to an empty service.
      try shell.get("cd \(shell.state) && rm -f regent.db regent.db-wal regent.db-shm && rm regent.db.made")
      try withService(in: folder) { _ in
        let empty = try shell.get("regentctl requestor list --json")
        #expect(empty == "[]")
      }
    }
  }
}
