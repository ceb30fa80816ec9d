import PairingStore
@testable import PairingStoreSQLite
import SQLite
import Testing

extension PairingStoreSQLite.SignedTable {
  /// The columns, unique lists of columns and indexes as the table declares them.
  fileprivate var declared: [String] {
    let kinds: [String] = columns.map { column in
      switch column.kind {
      case .text: "TEXT"
      case .number: "INTEGER"
      case .bytes: "BLOB"
      }
    }
    let parts = zip(columns, kinds).enumerated().map { place, column in
      let key = place < keyCount ? " key \(place + 1)" : ""
      return "column \(column.0.name) \(column.1)\(column.0.isNullable ? "" : " NOT NULL")\(key)"
    }
    return parts + ["column signature BLOB NOT NULL"] + unique.map { "unique \($0)" }
      + indexes.map { "index \(name)_\($0.name) (\($0.columns))" + ($0.condition.map { " WHERE \($0)" } ?? "") }
  }

  /// The same of the table in a database file.
  fileprivate func found(in context: borrowing ReadContext) throws -> [String] {
    let columns: [String] = try context.all(
      "SELECT name, type, \"notnull\", pk FROM pragma_table_info(\(name)) ORDER BY cid"
    ) { row in
      let key = try row.integer(3)
      // SQLite requires a value in the columns of a primary key, but does not list them as NOT NULL.
      let isRequired = try row.integer(2) == 1 || key > 0
      return
        "column \(try row.text(0)) \(try row.text(1))\(isRequired ? " NOT NULL" : "")\(key > 0 ? " key \(key)" : "")"
    }
    let indexes: [String] = try context.all(
      """
      SELECT l.name, l."unique", (SELECT group_concat(name, ', ') FROM pragma_index_info(l.name)),
        coalesce(substr(s.sql, instr(s.sql, ' WHERE ')), '') , coalesce(instr(s.sql, ' WHERE '), 0)
      FROM pragma_index_list(\(name)) l JOIN sqlite_schema s ON s.name = l.name WHERE l.origin <> 'pk'
      """
    ) { row in
      if try row.integer(1) == 1 { return "unique \(try row.text(2))" }
      let condition = try row.integer(4) > 0 ? row.text(3) : ""
      return "index \(try row.text(0)) (\(try row.text(2)))\(condition)"
    }
    return columns + indexes
  }
}

@Suite struct `The tables of a SQLite file` {
  @Test func `the migrations arrive at the tables as they are declared`() async throws {
    try await withStoreFile { file in
      try await file.with { store in
        try await store.database.read { context in
          for table in Tables.all {
            let found = try table.found(in: context)
            #expect(found.count > 2 && found.sorted() == table.declared.sorted(), "\(table.name)")
          }
        }
      }
    }
  }
}
