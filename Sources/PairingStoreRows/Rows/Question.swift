package import RegentSQL

/// A question whose answer a transaction may keep for as long as nothing that it writes can have changed it.
///
/// Where asking is a way to a server and back, each is asked once, and those that many verbs name ahead go together.
/// The answer stands on the rows of one table that hold these values in these columns, and the statement takes just
/// them, in this order. So a write whose row, before it and after it, holds others leaves the answer as it is. Without
/// columns any write to the table ends it.
package struct Question: Sendable {
  package let sql: SQL
  package let table: String
  package let columns: [String]?
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
  /// Some columns of the row that a question asks for, whether it verifies or not: good for naming what will be asked
  /// next, and for nothing else.
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
  /// The text that it is; none of a value that is no text.
  var asText: String? { if case .text(let text) = self { text } else { nil } }
}
