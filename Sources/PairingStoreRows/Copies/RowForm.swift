import RegentSQL

/// How the rows of a table are walked and copied: all of their columns, in an order that every database has.
struct RowForm: Sendable {
  let name: String
  /// With the signature, where there is one, as the last.
  let columns: [Column]
  private let order: [Column]
  /// Whether the last column that is asked for is the place in the order of writing, which is not copied.
  private let isCounted: Bool

  /// In the order of the primary key, or of writing.
  init(_ table: any SignedTable) {
    name = table.name
    columns = table.columns + [.bytes("signature")]
    isCounted = Tables.inOrderOfWriting.contains(name)
    order = isCounted ? [.number("rowid")] : Array(table.columns.prefix(table.keyCount))
  }

  private init(_ name: String, _ columns: [Column], order: [Column]) {
    (self.name, self.columns, self.order, isCounted) = (name, columns, order, false)
  }

  /// The data keys, which carry a seal and no signature.
  static let dataKeys = RowForm(DataKeys.table, [.text("purpose"), .bytes("sealed")], order: [.text("purpose")])

  /// Where the next page begins: behind these values of the columns of the order.
  struct Place { fileprivate let values: [SQLValue] }

  /// The next rows of the table, in its order.
  ///
  /// By the values of the key, and not by how many were seen: each page is found as fast as the first.
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
