package import RegentSQL

/// A query whose result a transaction may reuse until a write of the same transaction can have changed it.
///
/// On PostgreSQL a query costs a round trip. A transaction therefore sends each query once, and sends those together
/// that a store operation declares in advance. The result depends on the rows of one table that have the bound values
/// in `columns`. The SQL text binds exactly these values in this order. A write makes the result stale, unless the
/// written row has other values in these columns both before and after the write. With nil `columns`, every write to
/// the table makes the result stale.
package struct Question: Sendable {
  package let sql: SQL
  package let table: String
  package let columns: [String]?
}

/// A row that a transaction writes or deletes, described by its leading columns as far as their values are known.
struct TouchedRow {
  let table: String
  let columns: ArraySlice<Column>
  let values: [SQLValue]

  /// Describes a written row of which all values, or only those of the key, are known.
  init<Record>(_ table: Table<Record>, _ values: [SQLValue]) {
    self.table = table.name
    self.values = values
    columns = table.columns.prefix(values.count)
  }

  /// Describes every row that has these values.
  init(_ table: String, _ known: [(column: Column, value: SQLValue)]) {
    self.table = table
    columns = known.map(\.column)[...]
    values = known.map(\.value)
  }
}

extension Table {
  /// Reads some columns of a row without verifying its signature.
  ///
  /// Use the result only to declare further queries in advance.
  func unverified<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ question: Question, _ names: [String]
  ) throws -> [SQLValue]? {
    var found: [SQLValue]?
    try context.each(question) { row in
      found = try names.map { name in
        guard let place = columns.firstIndex(where: { $0.name == name }) else { return .null }
        return try columns[place].value(of: row, at: place)
      }
    }
    return found
  }
}

extension SQLValue {
  /// The value if it is text; nil for other types.
  var asText: String? { if case .text(let text) = self { text } else { nil } }
}
