import PairingStore
@testable import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import RegentSQL
import SQLite
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

extension SQLiteStore {
  fileprivate func readAllRows() async throws -> [RowAsRead] {
    let vault = vault
    return try await database.read { context in
      let rows = SignedRows(vault, VerifiedRowCache())
      return try Tables.all.flatMap { table in try (table as? any ReadableTable)?.readAll(context, rows) ?? [] }
    }
  }
}

extension Querying where Self: ~Copyable {
  fileprivate borrowing func rawTables() throws -> [RawTable] {
    let names = try all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") { try $0.text(0) }
    var tables: [RawTable] = []
    for name in names where !name.hasPrefix("sqlite_") {
      let columns = try all("SELECT name, type FROM pragma_table_info(\(name))") { row in
        switch try row.text(1) {
        case "TEXT": Column.text(try row.text(0))
        case "INTEGER": Column.number(try row.text(0))
        default: Column.bytes(try row.text(0))
        }
      }
      let list = columns.map(\.name).joined(separator: ", ")
      let rows = try all("SELECT \(unsafeRawSQL: list) FROM \(unsafeRawSQL: name) ORDER BY rowid") { row in
        var values: [SQLValue] = []
        for (place, column) in columns.enumerated() { values.append(try column.value(of: row, at: place)) }
        return values
      }
      tables.append(RawTable(name: name, columns: columns.map(\.name), rows: rows))
    }
    return tables
  }
}

extension StoreFile {
  /// Makes a database of the vectors' schema version that contains their rows and nothing else.
  fileprivate init(of vectors: RowVectors, in folder: String) throws {
    self.init(path: "\(folder)/regent.db", master: Secret(copying: vectors.masterKey))
    let database = try open(vectors.schema)
    defer { database.close() }
    try database.writeBlocking { context in
      for table in vectors.tables { try context.run("DELETE FROM \(unsafeRawSQL: table)") }
      for vector in vectors.vectors {
        let signature = vector.signature.map { [SQLValue.blob($0.code)] } ?? []
        let columns = vector.cells.map(\.column) + (signature.isEmpty ? [] : ["signature"])
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let text = "INSERT INTO \(vector.table) (\(columns.joined(separator: ", "))) VALUES (\(places))"
        try context.run(SQL(unsafeRawSQL: text, vector.values + signature))
      }
    }
  }

  /// Opens the file with the first migrations only.
  fileprivate func open(_ migrations: Int) throws -> Database {
    var options = DatabaseOptions(
      path: path, applicationID: Schema.applicationID,
      migrations: Array(Schema.migrations(MigrationKeys(try DataKeys.masterKey(master))).prefix(migrations)))
    options.fileLayer = fileLayer
    return try Database(options)
  }

  fileprivate func rawTables(_ migrations: Int) throws -> [RawTable] {
    let database = try open(migrations)
    defer { database.close() }
    return try database.readBlocking { try $0.rawTables() }
  }
}

extension Database {
  fileprivate func replaceDataKey(_ old: [SQLValue], with new: [SQLValue]) throws {
    try writeBlocking { context in
      try context.run("UPDATE data_key SET purpose = \(new[0]), sealed = \(new[1]) WHERE purpose = \(old[0])")
    }
  }
}

/// The version of today's schema.
private let newest = (try? DataKeys.masterKey(Random.secret())).map { Schema.migrations(MigrationKeys($0)).count } ?? 0

@Suite struct `Frozen rows of SQLite databases` {
  @Test(arguments: RowVectors.all(of: "sqlite"))
  func `each frozen row has the signature and the encrypted contents that the file states`(vectors: RowVectors) throws {
    #expect(try vectors.inconsistencies() == [])
  }

  @Test(arguments: RowVectors.all(of: "sqlite"))
  func `today's code reads each frozen row, writes it again with the same bytes and refuses any changed column`(
    vectors: RowVectors
  ) async throws {
    try await withTemporaryFolder { folder in
      let rows = try await StoreFile(of: vectors, in: folder).with { try await $0.readAllRows() }
      let problems = try vectors.problems(
        reading: rows,
        added: ["authentication.parent": .null, "authentication.app": .null, "signing_key.purpose": .text("media")],
        widened: vectors.schema < newest ? ["requestor.settings"] : [])
      #expect(problems == [])
    }
  }

  @Test(arguments: RowVectors.all(of: "sqlite"))
  func `a data key that was changed or moved to another row is refused`(vectors: RowVectors) throws {
    let keys = vectors.vectors.filter { $0.table == "data_key" }.map(\.values)
    try withTemporaryFolder { folder in
      let file = try StoreFile(of: vectors, in: folder)
      let master = try DataKeys.masterKey(file.master)
      let database = try file.open(vectors.schema)
      defer { database.close() }
      #expect(throws: Never.self) { try database.readBlocking { _ = try DataKeys.look(in: $0, with: master) } }
      for key in keys {
        for changed in rowsWithOneChange(["purpose", "sealed"], key, [0])
        where changed.values != key && !changed.values.contains(.null) {
          try database.replaceDataKey(key, with: changed.values)
          #expect(throws: StoreKeyFailure.self, "\(changed.column) of \(key[0].shown)") {
            try database.readBlocking { _ = try DataKeys.look(in: $0, with: master) }
          }
          try database.replaceDataKey(changed.values, with: key)
        }
      }
    }
  }

  @Test func `every table of today's schema has a frozen row`() async throws {
    let last = try #require(RowVectors.all(of: "sqlite").last)
    try await withStoreFile { file in
      try await file.with { _ in }
      #expect(last.schema == newest, "write the vectors of this schema: Tests/fixtures/README.md")
      #expect(try Set(file.rawTables(newest).map(\.name)) == last.tables)
    }
  }

  @Test(.enabled(if: environment("WRITE_VECTORS") == "1"))
  func `frozen rows of today's schema are written when WRITE_VECTORS is set`() async throws {
    try await withStoreFile { file in
      try await file.with { store in try await FullHouse(store).fillOtherTables() }
      let vectors = try RowVectors(
        "sqlite-\(newest)", masterKey: file.master.exposedBytes(), of: file.rawTables(newest))
      try vectors.write()
    }
  }
}
