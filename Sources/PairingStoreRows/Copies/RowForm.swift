import RegentSQL

/// How the rows of a table are read page by page and copied: all columns, in an order that both databases support.
struct RowForm: Sendable {
  let name: String
  /// The table's columns, with the row signature as the last one if the table has signatures.
  let columns: [Column]
  private let order: [Column]
  /// Whether the query also reads `rowid`, which shows the order of writing.
  ///
  /// It comes as a last column that is not copied.
  private let isCounted: Bool

  /// Sorts by the primary key.
  ///
  /// Tables whose order of writing matters are sorted by that order instead.
  init(_ table: any SignedTable) {
    name = table.name
    columns = table.columns + [.bytes("signature")]
    isCounted = Tables.inOrderOfWriting.contains(name)
    order = isCounted ? [.number("rowid")] : Array(table.columns.prefix(table.keyCount))
  }

  private init(_ name: String, _ columns: [Column], order: [Column]) {
    (self.name, self.columns, self.order, isCounted) = (name, columns, order, false)
  }

  /// The form of the table of data keys.
  ///
  /// Its rows are encrypted with authentication and have no signature.
  static let dataKeys = RowForm(DataKeys.table, [.text("purpose"), .bytes("sealed")], order: [.text("purpose")])

  /// The position after which the next page of rows begins: the values of the sort columns.
  struct Place { fileprivate let values: [SQLValue] }

  /// Reads the next page of rows in sorted order.
  ///
  /// It seeks by key instead of by offset, so that each page is found as fast as the first.
  func page<Context: Querying & ~Copyable>(
    _ context: borrowing Context, after place: Place?, step: Int
  ) throws -> (rows: [[SQLValue]], next: Place?) {
    let all = columns + (isCounted ? order : [])
    let (names, keys) = (list(all.map(\.name)), list(order.map(\.name)))
    let from = place == nil ? "" : " WHERE (\(keys)) > (\(list(order.map { _ in "?" })))"
    let text = "SELECT \(names) FROM \(name)\(from) ORDER BY \(keys) LIMIT \(step)"
    let found = try context.all(SQL(unsafeRawSQL: text, place?.values ?? [])) { row in
      var values: [SQLValue] = []
      values.reserveCapacity(all.count)
      for (place, column) in all.enumerated() { values.append(try column.value(of: row, at: place)) }
      return values
    }
    let rows = isCounted ? found.map { Array($0.dropLast()) } : found
    guard found.count == step, let last = found.last else { return (rows, nil) }
    return (rows, Place(values: isCounted ? Array(last.suffix(1)) : Array(last.prefix(order.count))))
  }

  private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}
