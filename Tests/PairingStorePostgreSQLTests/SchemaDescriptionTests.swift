import PairingStore
@testable import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentSQL
import TestSupport
import Testing

extension DatabasePlace {
  /// Creates the tables that a version of the schema had: those of the first version, with the migrations after it.
  func makeTables(of version: Int) throws {
    let connection = try connect()
    let first = try String(decoding: readFile("\(packageFolder())/Tests/fixtures/rows/postgresql-1.sql"), as: UTF8.self)
    for text in first.split(separator: ";\n") {
      try connection.run(SQL(unsafeRawSQL: String(text), []), by: serverDeadline)
    }
    for statement in Schema.migrations.prefix(version - 1).joined() {
      try connection.run(statement, by: serverDeadline)
    }
  }

  /// Lists each table, column, index and constraint of the schema with everything that is stated about it.
  fileprivate func parts() throws -> [String] {
    let parts = try connect().run(
      """
      SELECT concat_ws(' ', 'table', c.relname, c.relpersistence)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = \(schema) AND c.relkind = 'r'
      UNION ALL
      SELECT concat_ws(' ', 'column', table_name, column_name, data_type, is_nullable, column_default, collation_name,
        is_identity, identity_generation)
      FROM information_schema.columns WHERE table_schema = \(schema)
      UNION ALL
      SELECT concat_ws(' ', 'index', replace(indexdef, concat(' ', schemaname, '.'), ' '))
      FROM pg_indexes WHERE schemaname = \(schema)
      UNION ALL
      SELECT concat_ws(' ', 'constraint', c.conname, pg_get_constraintdef(c.oid))
      FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace WHERE n.nspname = \(schema)
      """, by: serverDeadline
    ).map { try $0.text(0) }
    return parts.sorted()
  }
}

@Suite struct `The tables of a PostgreSQL database` {
  @Test func `the migrations arrive at the tables that a new database gets from their declarations`() throws {
    let server = try PostgreSQLServer.shared.get()
    let (old, new) = (try DatabasePlace(on: server), try DatabasePlace(on: server))
    defer {
      try? old.remove()
      try? new.remove()
    }
    try old.makeTables(of: Int(Schema.version))
    try PostgreSQLStore(new.options()).close()
    let (migrated, declared) = (try old.parts(), try new.parts())
    #expect(migrated.count > 200)
    #expect(migrated.filter { !declared.contains($0) } == [])
    #expect(declared.filter { !migrated.contains($0) } == [])
  }
}
