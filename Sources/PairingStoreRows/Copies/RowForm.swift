import RegentSQL

/// How the rows of a table are read page by page and copied: all columns, in an order that both databases support.
struct RowForm: Sendable {
  let name: String
  /// The columns, with the signature as the last one if the table has one.
  let columns: [Column]
  private let order: [Column]
  /// Whether the query also reads `rowid`, the order of writing, as a last column that is not copied.
  private let isCounted: Bool

  /// Sorts by the primary key, or by the order of writing where that order matters.
  init(_ table: any SignedTable) {
    name = table.name
    columns = table.columns + [.bytes("signature")]
    isCounted = Tables.inOrderOfWriting.contains(name)
    order = isCounted ? [.number("rowid")] : Array(table.columns.prefix(table.keyCount))
  }

  private init(_ name: String, _ columns: [Column], order: [Column]) {
    (self.name, self.columns, self.order, isCounted) = (name, columns, order, false)
  }

  /// The table of data keys.
  ///
  /// Its rows are encrypted with authentication and have no signature.
  static let dataKeys = RowForm(DataKeys.table, [.text("purpose"), .bytes("sealed")], order: [.text("purpose")])

  /// The values of the sort columns behind which the next page begins.
  struct Place { fileprivate let values: [SQLValue] }

  /// The next rows in sorted order.
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
