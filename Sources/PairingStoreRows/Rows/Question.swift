package import RegentSQL

/// A question that a verb is going to ask, named before its transaction begins: where asking is a way to a server and
/// back, those of many verbs go together.
///
/// The answer stands on the rows of one table that hold these values in these columns, and the statement takes just
/// them, in this order. So a write whose row, before it and after it, holds others leaves the answer as it is.
package struct Question: Sendable {
  package let sql: SQL
  package let table: String
  package let columns: [String]
}

/// A row that a statement writes or deletes: what is known of its columns, from the first one on.
struct TouchedRow {
  let table: String
  let columns: ArraySlice<Column>
  let values: [SQLValue]

  /// A row of which all is known, or the key alone.
  init<Record>(_ table: Table<Record>, _ values: [SQLValue]) {
    self.table = table.name
    self.values = values
    columns = table.columns.prefix(values.count)
  }

  /// Any row that holds these values.
  init(_ table: String, _ known: [(column: Column, value: SQLValue)]) {
    self.table = table
    columns = known.map(\.column)[...]
    values = known.map(\.value)
  }
}

extension Table {
  /// The question for one row by its first column, as the verbs ask it.
  func question(_ id: String) -> Question { Question(sql: row(id), table: name, columns: [columns[0].name]) }
}
