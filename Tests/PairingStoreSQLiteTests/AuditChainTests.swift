import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import SQLite
import TestSupport
import Testing

@Suite struct `The audit log in a file that an attacker can write` {
  private func withLog(
    of count: Int, _ change: String, _ body: @escaping @Sendable (SQLiteStore) async throws -> Void
  ) async throws {
    try await withStoreFile { file in
      try await file.with { store async throws in
        for number in 1...count { try await store.append(line(number)) }
        #expect(try await store.auditProblems(step: 3) == [])
      }
      try file.behindTheBack { context in
        for statement in change.split(separator: ";") { try context.run("\(unsafeRawSQL: String(statement))") }
      }
      try await file.with(body)
    }
  }

  private func line(_ number: Int) -> AuditEntry {
    AuditEntry(at: Instant(milliseconds: Int64(number)), actor: .service, action: "line.\(number)", subject: "x")
  }

  @Test func `lines deleted from the end of the log are reported, and their numbers are not used again`() async throws {
    try await withLog(of: 9, "DELETE FROM audit WHERE number > 7") { store async throws in
      #expect(try await store.auditProblems(step: 3) == ["lines 8 to 9 are missing"])
      try await store.append(line(10))
      #expect(try await store.newestAuditNumber() == 10)
      #expect(try await store.auditProblems(step: 3) == ["lines 8 to 9 are missing"])
    }
  }

  @Test(arguments: [
    ("DELETE FROM audit WHERE number IN (4, 5)", ["lines 4 to 5 are missing"]),
    ("DELETE FROM audit WHERE number = 1", ["line 1 is missing"]),
    ("UPDATE audit SET detail = 'x' WHERE number = 3", ["line 3 is missing"]),
    ("DELETE FROM audit", ["lines 1 to 9 are missing"]),
    ("DELETE FROM audit_head", ["what says how far it reaches was removed or changed"]),
    ("UPDATE audit_head SET newest = 8", ["what says how far it reaches was removed or changed"]),
  ])
  func `deleted and changed lines are reported`(change: String, problems: [String]) async throws {
    try await withLog(of: 9, change) { store async throws in
      #expect(try await store.auditProblems(step: 2) == problems)
    }
  }

  @Test func `a planted line with the largest number is ignored and reported`() async throws {
    let columns = "at, actor, action, subject, outcome, detail, signature"
    let plant = "INSERT INTO audit (number, \(columns)) SELECT \(Int64.max), \(columns) FROM audit LIMIT 1"
    try await withLog(of: 3, plant) { store async throws in
      #expect(try await store.newestAuditNumber() == 3)
      try await store.append(line(4))
      try await store.append(line(5))
      let lines = try await store.audit(after: 3, limit: 99)
      #expect(lines.map(\.entry.action) == ["line.4", "row.tampered", "line.5"])
      #expect(lines.map(\.number) == [4, 5, 6])
      #expect(try await store.auditProblems() == [])
    }
  }

  @Test func `a planted row with the smallest row id is found and does not stop the upkeep`() async throws {
    let columns = "requestor, provider, device_hash, identity, started, resources, signature"
    let plant = """
      INSERT INTO temporary_pass (rowid, \(columns)) VALUES
      (\(Int64.min), 'x', 'x', x'00', x'00', 1, '[]', x'00')
      """
    try await withLog(of: 1, plant) { store async throws in
      #expect(try await store.forgetExpired(at: Instant(milliseconds: 5), limit: 10) >= 0)
      #expect(try await store.verifyRows() == 1)
    }
  }

  @Test func `an old audit head put back into the file does not let new lines overwrite later ones`() async throws {
    try await withStoreFile { file in
      let earlier = try await file.with { store async throws in
        for number in 1...3 { try await store.append(line(number)) }
        return try await store.database.read {
          try $0.all("SELECT * FROM audit_head") { row in
            try Tables.auditHead.columns.enumerated().map { try $1.value(of: row, at: $0) } + [.blob(try row.blob(5))]
          }
        }
      }
      try await file.with { store async throws in
        for number in 4...6 { try await store.append(line(number)) }
      }
      let head = try #require(earlier.first)
      try file.behindTheBack { context in
        try context.run("DELETE FROM audit_head")
        try context.run(SQL(unsafeRawSQL: Tables.auditHead.insert, head))
      }
      try await file.with { store async throws in
        try await store.append(line(7))
        let lines = try await store.audit(after: 0, limit: 99).map(\.entry.action)
        #expect(lines == (1...6).map { "line.\($0)" } + ["audit.broken", "line.7"])
      }
    }
  }

  @Test func `a log without a head continues after its last line and records that the head was missing`() async throws {
    try await withLog(of: 4, "DELETE FROM audit_head") { store async throws in
      try await store.append(line(5))
      let lines = try await store.audit(after: 4, limit: 99)
      #expect(lines.map(\.entry.action) == ["audit.broken", "line.5"])
      #expect(lines.map(\.number) == [5, 6])
    }
  }

  @Test func `a log of an earlier version gets a head when it is opened`() async throws {
    let version = try #require(EarlierVersion.all.first { $0.name == "0.1.0" })
    try await withTemporaryFolder { temporary in
      try await version.copy("regent.db", in: temporary).with { store async throws in
        let newest = try await store.newestAuditNumber()
        #expect(newest > 0)
        #expect(try await store.auditProblems(step: 3) == [])
        try await store.append(line(1))
        #expect(try await store.newestAuditNumber() == newest + 1)
      }
    }
  }

  @Test func `lines deleted because of their age or number leave no gap in the log`() async throws {
    try await withStoreFile { file in
      try await file.with { store async throws in
        for number in 1...20 { try await store.append(line(number)) }
        let retention = AuditRetention(age: .milliseconds(10), most: 12, least: 4)
        var gone = 0
        while case let step = try await store.forgetAudit(
          beyond: retention, at: Instant(milliseconds: 17), limit: 2), step > 0
        { gone += step }
        // Eight lines exceed the maximum of twelve, and none of the rest is too old.
        #expect(gone == 8)
        _ = try await store.forgetAudit(beyond: retention, at: Instant(milliseconds: 1 << 60), limit: 99)
        let left = try await store.audit(after: 0, limit: 99).map(\.number)
        // Even a clock that is years ahead leaves the newest lines, as many as `least`.
        #expect(left == [17, 18, 19, 20])
        #expect(try await store.auditProblems(step: 2) == [])
        #expect(try await store.verifyRows() == 0)
      }
      try file.behindTheBack { try $0.run("DELETE FROM audit WHERE number = 17") }
      try await file.with { store async throws in
        #expect(try await store.auditProblems() == ["line 17 is missing"])
      }
    }
  }

  /// Writes thirty lines: two ordinary ones, then in turn seven that unauthenticated clients cause and three ordinary.
  private func fill(_ store: SQLiteStore) async throws {
    for number in 1...30 {
      try await store.append(number % 10 < 3 ? line(number) : stranger(number))
    }
  }

  private func stranger(_ number: Int) -> AuditEntry {
    AuditEntry(at: Instant(milliseconds: Int64(number)), actor: .service, action: "client.register", subject: "x")
  }

  private func thin(_ store: SQLiteStore, _ most: Int64, age: Duration = .seconds(9), at time: Int64 = 30) async throws
  {
    let retention = AuditRetention(age: age, most: most, least: 1)
    while try await store.forgetAudit(beyond: retention, at: Instant(milliseconds: time), limit: 3) > 0 {}
  }

  @Test func `lines of unauthenticated clients that were thinned out leave a valid chain, also after restarts`()
    async throws
  {
    try await withStoreFile { file in
      try await file.with { store async throws in
        try await fill(store)
        try await thin(store, 20)
        #expect(try await store.auditProblems(step: 2) == [])
        #expect(try await store.audit(after: 0, limit: 99).count == 20)
      }
      try await file.with { store async throws in
        try await thin(store, 12)
        let lines = try await store.audit(after: 0, limit: 99)
        #expect(lines.count == 12)
        #expect(lines.map(\.number) == [1, 2, 9, 10, 11, 12, 19, 20, 21, 22, 29, 30])
        #expect(
          lines.filter { $0.entry.action == "audit.thin" }.map(\.entry.subject) == [
            "lines 3 to 9", "lines 13 to 19", "lines 23 to 29",
          ])
        #expect(
          lines[2].entry.detail.hasPrefix(
            "7 lines of unauthenticated clients were deleted because the log was full; hash chain from "))
        #expect(try await store.auditProblems(step: 2) == [])
        #expect(try await store.verifyRows() == 0)
        try await store.append(stranger(31))
        try await thin(store, 6)
        #expect(try await store.audit(after: 0, limit: 99).map(\.number) == [20, 21, 22, 29, 30, 31])
        #expect(try await store.auditProblems(step: 2) == [])
        try await thin(store, 99, age: .milliseconds(1), at: 31)
        #expect(try await store.audit(after: 0, limit: 99).map(\.number) == [31])
        #expect(try await store.auditProblems(step: 2) == [])
      }
    }
  }

  @Test func `lines with a pseudonym leave a valid chain, also after restarts, thinning and deletion by age`()
    async throws
  {
    let (name, pseudonym): (AccountName, AccountName)
    (name, pseudonym) = (try ConformanceFixture.name("anna"), try ConformanceFixture.name("erased-1"))
    let viewer = Viewer(provider: try ConformanceFixture.name("cable"), account: name)
    try await withStoreFile { file in
      try await file.with { store async throws in
        for number in 1...30 {
          try await store.append(
            AuditEntry(
              at: Instant(milliseconds: Int64(number)), actor: number % 3 == 0 ? .viewer(viewer) : .service,
              action: number % 10 < 3 ? "line" : "client.register", subject: "x"))
        }
        #expect(
          try await store.pseudonymise(viewer, as: pseudonym, after: 0, limit: 99) { _ in line(31) }?.count == 10)
        #expect(try await store.auditProblems(step: 2) == [])
        #expect(try await store.verifyRows() == 0)
      }
      try await file.with { store async throws in
        #expect(try await store.auditProblems(step: 3) == [])
        // The log now has summaries of dropped lines and lines with a pseudonym.
        try await thin(store, 24)
        #expect(try await store.audit(after: 0, limit: 99).count <= 24)
        #expect(try await store.auditProblems(step: 2) == [])
        try await thin(store, 99, age: .milliseconds(20), at: 31)
        #expect(try await store.audit(after: 0, limit: 1).first?.number == 12)
        #expect(try await store.auditProblems(step: 2) == [])
        try await store.append(line(32))
        #expect(try await store.auditProblems(step: 2) == [])
      }
      try file.behindTheBack {
        try $0.run("UPDATE audit SET actor = '[\"erased\",\"00\",\"service\"]' WHERE number = 32")
      }
      try await file.with { store async throws in
        #expect(try await store.auditProblems() == ["line 32 is missing"])
      }
    }
  }

  @Test(arguments: [
    ("DELETE FROM audit WHERE number = 11", ["line 11 is missing"]),
    ("DELETE FROM audit WHERE number = 9", ["lines 3 to 9 are missing"]),
    ("UPDATE audit SET subject = 'lines 2 to 9' WHERE number = 9", ["lines 3 to 9 are missing"]),
    ("DELETE FROM audit WHERE number = 2", ["line 2 is missing"]),
    ("DELETE FROM audit WHERE number = 30", ["line 30 is missing"]),
  ])
  func `deleting lines from a thinned log is still detected`(change: String, problems: [String]) async throws {
    try await withStoreFile { file in
      try await file.with { store async throws in
        try await fill(store)
        try await thin(store, 13)
      }
      try file.behindTheBack { try $0.run("\(unsafeRawSQL: change)") }
      try await file.with { store async throws in
        #expect(try await store.auditProblems(step: 2) == problems)
        // Further thinning does not hide the damage.
        for number in 31...40 { try await store.append(stranger(number)) }
        try await thin(store, 14)
        #expect(try await store.auditProblems(step: 2) == problems)
      }
    }
  }
}
