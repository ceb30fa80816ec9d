import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import RegentSQL
import TestSupport
import Testing

/// Tables that only a cluster needs.
///
/// The store creates them anew where a copy arrives.
///
/// The test fails for a table that is neither in this list nor copied, so a new table cannot be forgotten.
private let ofTheCluster: Set<String> = [
  "cluster", "lane", "node", "lease", "change", "nonce", "nonce_count", "live_code_count",
]

/// A column of `information_schema.columns`.
private struct FoundColumn {
  let table, name, type: String
  let isNullable: Bool
}

extension DatabasePlace {
  fileprivate func columns() throws -> [FoundColumn] {
    try connect().run(
      """
      SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT), is_nullable = 'YES'
      FROM information_schema.columns
      WHERE table_schema = \(schema) AND is_identity = 'NO' ORDER BY table_name, ordinal_position
      """, by: serverDeadline
    ).map {
      FoundColumn(table: try $0.text(0), name: try $0.text(1), type: try $0.text(2), isNullable: try $0.integer(3) == 1)
    }
  }

  /// Writes `count` rows into every table, with values that are hard to copy: empty, NULL, extreme, with line breaks
  /// and quotes.
  ///
  /// - Returns: the names of the tables.
  fileprivate func fillEveryTable(_ count: Int) throws -> Set<String> {
    let tables = Dictionary(grouping: try columns().filter { !ofTheCluster.contains($0.table) }, by: \.table)
    let connection = try connect()
    try connection.run("DELETE FROM audit_head", by: serverDeadline)
    for (table, columns) in tables where table != "data_key" {
      let names = columns.map(\.name).joined(separator: ", ")
      let places = columns.map { _ in "?" }.joined(separator: ", ")
      let statements = (0..<count).reversed().map { row in
        SQL(
          unsafeRawSQL: "INSERT INTO \(table) (\(names)) VALUES (\(places))",
          columns.map { column -> SQLValue in
            if column.isNullable, row % 2 == 1 { return .null }
            switch column.type {
            case "text": return .text(row == 0 ? "" : "\(row) ü\u{1F4FA}'\\\n")
            case "bytea": return .blob(row == 0 ? [] : [UInt8(row % 256), UInt8(row / 256), 0, 255])
            default: return .integer(row == 0 ? .min : .max - Int64(row))
            }
          })
      }
      _ = try connection.run(statements, by: serverDeadline)
    }
    return Set(tables.keys)
  }

  /// The first column of each row of the result.
  fileprivate func texts(_ sql: SQL) throws -> [String] {
    try connect().run(sql, by: serverDeadline).map { try $0.text(0) }
  }

  fileprivate func snapshot(isAlone: Bool = false) throws -> ServerSnapshot {
    try ServerSnapshot(of: settings(), masterKey: master, isAlone: isAlone)
  }

  fileprivate func file(_ path: String) throws -> SQLiteStore {
    try SQLiteStore(SQLiteStoreOptions(path: path, masterKey: master, wallClock: { Instant(milliseconds: 0) }))
  }
}

@Suite("Copies of a PostgreSQL database", .serialized)
struct CopyTests {
  @Test func `every table is copied to a file and back with all its rows, whatever their values`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    try PostgreSQLStore(place.options()).close()
    // More rows than one statement takes, and more than one page of the copy.
    let count = 520
    let tables = try place.fillEveryTable(count)
    let snapshot = try place.snapshot()
    defer { snapshot.close() }
    try await withTemporaryFolder { folder in
      let filling = try SQLiteFilling(at: "\(folder)/copy.db")
      let sent = try snapshot.survey(seen: { _ in }) { try filling.take($0) }
      filling.close()
      #expect(Set(sent.sums.keys) == tables, "each table that is there is copied")
      #expect(sent.sums.values.filter { $0.rows == count }.count == tables.count - 1)
      // The rows have no signatures. That each one is counted shows that the verification covers every table.
      #expect(sent.unverified == count * (tables.count - 1))
      #expect(sent.gaps == ["what says how far it reaches was removed or changed"])
      let store = try place.file("\(folder)/copy.db")
      defer { store.close() }
      #expect(try await store.integrityProblems() == [])
      let inFile = try store.survey()
      #expect(inFile.differences(from: sent) == [] && inFile.unverified == sent.unverified)

      let other = try DatabasePlace(on: place.server)
      defer { try? other.remove() }
      let arriving = try ServerFilling(other.settings())
      defer { arriving.close() }
      _ = try store.survey(seen: { _ in }) { try arriving.take($0) }
      let arrived = try arriving.survey(masterKey: place.master)
      #expect(arrived.differences(from: sent) == [])
      try arriving.commit(mark: CopyMark(action: "test", detail: ""))
      // Where the order of insertion matters, the copy keeps it. The rows were inserted in the reverse order of their
      // keys.
      for (table, key) in [("entitlement", "id"), ("temporary_pass", "requestor"), ("login_failure", "subject")] {
        let order: SQL = "SELECT \(unsafeRawSQL: key) FROM \(unsafeRawSQL: table) ORDER BY rowid"
        let (before, after) = (try place.texts(order), try other.texts(order))
        #expect(before == after && before != before.sorted(), "\(table)")
      }
    }
  }

  @Test func `a copy that ends before its COMMIT leaves no rows and no tables`() throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let filling = try ServerFilling(place.settings())
    try filling.take(CopiedRows(table: "numbers", columns: ["id", "text", "signature"], rows: [row("a")]))
    filling.close()
    #expect(try !PostgreSQLStore.isMade(on: place.settings()))
    // The abandoned copy does not hold the lock, so the next one can begin.
    try ServerFilling(place.settings()).close()
  }

  @Test func `a row that the server cannot store is reported with its table`() throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let filling = try ServerFilling(place.settings())
    defer { filling.close() }
    let long = String((0..<9_000).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() ?? "-" })
    for id in ["a\u{0}b", long] {
      let refused = #expect(throws: CopyFailure.self) {
        try filling.take(CopiedRows(table: "numbers", columns: ["id", "text", "signature"], rows: [row(id)]))
      }
      guard case .refusedRow("numbers", _) = refused else { Issue.record("\(String(describing: refused))"); return }
    }
  }

  @Test func `a copy refuses a target that has rows or that a running service uses`() throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    for attempt in [{ try ServerFilling(place.settings()).close() }, { try place.snapshot(isAlone: true).close() }] {
      let busy = #expect(throws: PostgreSQLError.self) { try attempt() }
      #expect(busy?.message == "another service uses this database")
    }
    let second = try PostgreSQLStore(place.options(node: "two"))
    store.close()
    #expect(throws: PostgreSQLError.self) { try place.snapshot(isAlone: true).close() }
    // A snapshot can be taken while a service runs, and does not disturb it.
    let beside = try place.snapshot()
    #expect(try beside.survey().unverified == 0)
    beside.close()
    second.close()
    let alone = try place.snapshot(isAlone: true)
    let refused = #expect(throws: (any Error).self) { try PostgreSQLStore(place.options()).close() }
    #expect("\(String(describing: refused))".contains("being moved or restored"), "\(String(describing: refused))")
    alone.close()
    #expect(throws: CopyFailure.notEmpty(table: "data_key")) { try ServerFilling(place.settings()).close() }
  }

  @Test func `a copy is refused while a service uses the database, even after the service's idle connection broke`()
    async throws
  {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    let operating = try place.connect()
    let holders: SQL = """
      SELECT CAST(pid AS BIGINT) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1380404785
      AND CAST(objid AS BIGINT) = (CAST(hashtext(current_schema()) AS BIGINT) & 4294967295)
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      """
    for row in try operating.run(holders, by: serverDeadline) {
      try operating.run("SELECT pg_terminate_backend(CAST(\(row.integer(0)) AS INTEGER))", by: serverDeadline)
    }
    try await eventually("the lock to be gone") {
      try operating.run(holders, by: serverDeadline).isEmpty ? true : nil
    }
    let busy = #expect(throws: PostgreSQLError.self) { try place.snapshot(isAlone: true).close() }
    #expect(busy?.message == "another service uses this database")
    try await store.tryWriting()
  }

  @Test func `a snapshot of a PostgreSQL database shows no changes that were made after it began`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    try await store.keepNumbers("before", as: .day)
    let snapshot = try place.snapshot()
    defer { snapshot.close() }
    let first = try snapshot.survey()
    try await store.keepNumbers("after", as: .day)
    #expect(try snapshot.survey().differences(from: first) == [])
    let later = try place.snapshot()
    defer { later.close() }
    #expect(try later.survey().differences(from: first) == ["numbers"])
  }

  @Test func `the check of all rows reports rows whose parent row was deleted from outside`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options())
    defer { store.close() }
    let provider = Provider(id: try #require(ProviderID("cable")), name: "Cable", kind: .local)
    let account = Account(provider: provider.id, name: try #require(AccountName("anna")))
    for record in [Provision.provider(provider), .account(account)] {
      _ = try await store.put(record, replacing: nil, audit: nil, at: Instant(milliseconds: 0))
    }
    #expect(try await store.looseRows() == [])
    try place.connect().run("DELETE FROM provider", by: serverDeadline)
    #expect(try await store.looseRows() == ["1 row of account stands on a row of provider that is not there"])
    let snapshot = try place.snapshot()
    defer { snapshot.close() }
    #expect(try snapshot.survey().loose.count == 1)
  }

  @Test func `services refuse to open a database that was moved away, and the error says where its rows are`() throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    try PostgreSQLStore(place.options()).close()
    let snapshot = try place.snapshot(isAlone: true)
    try snapshot.leave("moved to a file (test)")
    snapshot.close()
    #expect(throws: SchemaFailure.closed(state: "moved to a file (test)")) {
      try PostgreSQLStore(place.options()).close()
    }
    #expect(try ServerSnapshot.state(of: place.settings()) == "moved to a file (test)")
  }

  private func row(_ id: String) -> [SQLValue] { [.text(id), .text(""), .blob([])] }
}
