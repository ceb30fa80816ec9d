/// The exact schema of a database: its tables and indexes, and no trigger or view that another program added.
///
/// An attacker who can write the file can also rewrite a table: with another conflict clause (`ON CONFLICT IGNORE`) it
/// would drop rows without an error. Rows are signed but tables are not, so the SQL text of each table is compared.
public struct DatabaseSchema: Sendable {
  private struct Part: Hashable {
    let kind: String
    let name: String
    let table: String
    /// The `CREATE` statement; nil for an index that SQLite made for a constraint.
    let text: String?
  }

  /// Tables that SQLite adds by itself: two by `ANALYZE`, and the third by `AUTOINCREMENT`.
  private static let own: Set<Part> = [
    Part(
      kind: "table", name: "sqlite_stat1", table: "sqlite_stat1", text: "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    Part(
      kind: "table", name: "sqlite_stat4", table: "sqlite_stat4",
      text: "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
    Part(
      kind: "table", name: "sqlite_sequence", table: "sqlite_sequence",
      text: "CREATE TABLE sqlite_sequence(name,seq)"),
  ]

  private let parts: Set<Part>

  /// Finds the schema that the migrations produce, by running them on an empty database in memory.
  public init(madeBy migrations: [Migration], applicationID: Int32) throws {
    let context = WriteContext(connection: try Connection.inMemory())
    try Migrator(migrations: migrations, applicationID: applicationID, path: "memory").run(in: context)
    parts = try Set(DatabaseSchema.parts(in: context.connection))
  }

  /// Describes each part of the file's schema that was added, changed or is missing.
  ///
  /// The result is empty when the schema matches.
  borrowing func differences(in connection: borrowing Connection) throws -> [String] {
    let found = try DatabaseSchema.parts(in: connection)
    let (wanted, there) = (parts, Set(found))
    let added = found.filter { !wanted.contains($0) && !DatabaseSchema.own.contains($0) }
    let missing = wanted.filter { !there.contains($0) }
    let names = Set(added.map(\.name))
    return added.map { part in
      wanted.contains { $0.name == part.name }
        ? "the \(part.kind) “\(part.name)” was changed" : "the \(part.kind) “\(part.name)” was added"
    }
      + missing.filter { !names.contains($0.name) }.map { "the \($0.kind) “\($0.name)” is missing" }.sorted()
  }

  private static func parts(in connection: borrowing Connection) throws -> [Part] {
    var parts: [Part] = []
    try connection.each("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name") { row in
      parts.append(
        Part(
          kind: try row.text(0), name: try row.text(1), table: try row.text(2),
          text: try row.isNull(3) ? nil : row.text(3)))
    }
    return parts
  }
}
