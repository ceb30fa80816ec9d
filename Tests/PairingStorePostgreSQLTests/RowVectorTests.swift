import PairingStore
@testable import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentCryptography
import RegentPairing
import RegentSQL
@testable import StoreConformance
import TestSupport
import Testing

/// The operations on a signed table that the tests of frozen rows need.
private protocol ReadableTable {
  func readAll<Context: Querying & ~Copyable>(_ context: borrowing Context, _ rows: SignedRows) throws -> [RowAsRead]
}

extension Table: ReadableTable {
  fileprivate func readAll<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ rows: SignedRows
  ) throws -> [RowAsRead] {
    let stored = try context.all(SQL(unsafeRawSQL: select, [])) { row in
      var values: [SQLValue] = []
      for (place, column) in columns.enumerated() { values.append(try column.value(of: row, at: place)) }
      return (values: values, signature: try row.blob(columns.count))
    }
    return try stored.map { values, signature in
      let record = try rows.verified(context, self, values, signature)?.record
      let unprotected = try rowsWithOneChange(columns.map(\.name), values, signature).filter {
        try rows.verified(context, self, $0.values, $0.signature) != nil
      }
      return RowAsRead(
        table: name, keyCount: keyCount, columns: columns.map(\.name), form: form.version, values: values,
        signature: signature, message: Vault.message(name, form, values), again: record.map { encode($0, rows.vault) },
        unprotected: unprotected.map(\.column))
    }
  }
}

extension PostgreSQLStore {
  fileprivate func readAllRows() async throws -> [RowAsRead] {
    try await read { context, rows in
      try Tables.all.flatMap { table in try (table as? any ReadableTable)?.readAll(context, rows) ?? [] }
    }
  }
}

extension DatabasePlace {
  /// A schema of the vectors' version that contains their rows and nothing else.
  fileprivate init(of vectors: RowVectors) throws {
    try self.init(on: PostgreSQLServer.shared.get(), master: Secret(copying: vectors.masterKey))
    let connection = try connect()
    try makeTables(of: vectors.schema)
    let times = try Set(columns(connection).filter(\.isTime).map { "\($0.table).\($0.name)" })
    for vector in vectors.vectors {
      let signature = vector.signature.map { [SQLValue.blob($0.code)] } ?? []
      let names = vector.cells.map(\.column) + (signature.isEmpty ? [] : ["signature"])
      let places = names.map { times.contains("\(vector.table).\($0)") ? "CAST(CAST(? AS TEXT) AS TIMESTAMPTZ)" : "?" }
      let text =
        "INSERT INTO \(vector.table) (\(names.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))"
      try connection.run(SQL(unsafeRawSQL: text, vector.values + signature), by: serverDeadline)
    }
  }

  private func columns(
    _ connection: Connection
  ) throws -> [(table: String, name: String, isTime: Bool)] {
    try connection.run(
      """
      SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), data_type LIKE 'timestamp%'
      FROM information_schema.columns
      WHERE table_schema = \(schema) AND is_identity = 'NO' ORDER BY table_name, ordinal_position
      """, by: serverDeadline
    ).map { (table: try $0.text(0), name: try $0.text(1), isTime: try $0.integer(2) == 1) }
  }

  fileprivate func rawTables() throws -> [RawTable] {
    let connection = try connect()
    let tables = Dictionary(grouping: try columns(connection), by: \.table)
    return try tables.sorted { $0.key < $1.key }.map { name, columns in
      let list = columns.map { $0.isTime ? "CAST(\($0.name) AS TEXT)" : $0.name }.joined(separator: ", ")
      let rows = try connection.run(SQL(unsafeRawSQL: "SELECT \(list) FROM \(name) ORDER BY 1", []), by: serverDeadline)
      return RawTable(
        name: name, columns: columns.map(\.name),
        rows: try rows.map { row in try columns.indices.map { try row.value($0) } })
    }
  }

  fileprivate func texts(_ sql: SQL) throws -> [String] {
    try connect().run(sql, by: serverDeadline).map { try $0.text(0) }
  }
}

@Suite(.serialized) struct `Frozen rows of PostgreSQL databases` {
  @Test(arguments: RowVectors.all(of: "postgresql"))
  func `each frozen row has the signature and the encrypted contents that the file states`(vectors: RowVectors) throws {
    #expect(try vectors.inconsistencies() == [])
  }

  @Test(arguments: RowVectors.all(of: "postgresql"))
  func `today's code reads each frozen row, writes it again with the same bytes and refuses any changed column`(
    vectors: RowVectors
  ) async throws {
    let place = try DatabasePlace(of: vectors)
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options(node: "reader"))
    defer { store.close() }
    #expect(try await vectors.problems(reading: store.readAllRows()) == [])
  }

  @Test(arguments: RowVectors.all(of: "postgresql"))
  func `today's nodes understand the unsigned rows of other nodes and write them with the same bytes`(
    vectors: RowVectors
  ) async throws {
    let place = try DatabasePlace(of: vectors)
    defer { try? place.remove() }
    let changes = try place.texts("SELECT what FROM change")
    func lines(_ text: String) -> [Substring] { text.split(separator: "\n").sorted() }
    for text in changes {
      #expect(try lines(ChangeLog.text(of: #require(ChangeLog.changes(in: text)))) == lines(text))
    }
    let kinds = Set(changes.flatMap { lines($0).map { $0.prefix { $0 != " " } } })
    #expect(kinds == ["code", "sign-in", "box", "provisioning", "signing-keys"])
    let nonces = try place.texts("SELECT used FROM nonce WHERE used <> ''")
    #expect(nonces.map { ChangeLog.text(of: ChangeLog.nonces(in: $0)) } == nonces && !nonces.isEmpty)
    let guesses = try place.texts("SELECT guesses FROM nonce WHERE guesses <> ''")
    #expect(guesses.map { ChangeLog.text(of: ChangeLog.guesses(in: $0, age: .zero)) } == guesses && !guesses.isEmpty)
    #expect(try place.texts("SELECT name FROM lease").map(NodeDuty.init) == [.upkeep])

    let store = try PostgreSQLStore(place.options(node: "reader"))
    defer { store.close() }
    // A node that sent no heartbeat for a day is not listed.
    try place.connect().run("UPDATE node SET seen = now()", by: serverDeadline)
    let node = try #require(try await store.nodes().first { $0.id.text == "node-0" })
    #expect(node.said == "a report" && node.instruction == .drain && node.version == "0.1.0")
    #expect(try await store.endOfChanges().change == Int64(changes.count))
  }

  @Test func `every table of today's schema has a frozen row`() throws {
    let last = try #require(RowVectors.all(of: "postgresql").last)
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    try PostgreSQLStore(place.options()).close()
    #expect(last.schema == Int(Schema.version), "write the vectors of this schema: Tests/fixtures/README.md")
    #expect(try Set(place.rawTables().map(\.name)) == last.tables)
  }

  @Test(.enabled(if: environment("WRITE_VECTORS") == "1"))
  func `frozen rows of today's schema are written when WRITE_VECTORS is set`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    var options = try place.options(node: "node-0")
    options.version = "0.1.0"
    let store = try PostgreSQLStore(options)
    defer { store.close() }
    let house = try await FullHouse(store)
    try await house.fillOtherTables()
    // Above the limit of all codes, the codes of each requestor are counted.
    let other = try await house.stage.besides("OTHER")
    _ = try await store.reserve(
      other.registration(10, device: 10), within: LiveCodeLimits(1, among: 2), at: other.at(1))
    try await store.share([UsedNonce(key: house.calls, second: 7, mark: 11)])
    try await store.share([WrongGuess(.phone(house.stage.ann), from: house.source, mark: 12, age: .zero)])
    let node: NodeID = try ConformanceFixture.name("node-0")
    _ = try await store.take(.upkeep, as: node, for: .seconds(60), at: house.stage.at(1))
    _ = try await store.report("a report")
    _ = try await store.tell(node, .drain)
    try await eventually("the heartbeat with the report") { try place.texts("SELECT said FROM node") == ["a report"] }
    try RowVectors(
      "postgresql-\(Schema.version)", masterKey: place.master.exposedBytes(), of: place.rawTables()
    ).write()
  }
}
