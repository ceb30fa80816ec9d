public import PairingStore
import RegentSQL

extension RowStore {
  /// Looks at the signature of every row, a bounded number at a time: what was changed while the service was stopped is
  /// in the audit log afterwards, also when no verb ever asks for it.
  ///
  /// For after the start and for checking a database; reads only, but for the lines of the log.
  ///
  /// - Returns: how many rows do not verify.
  public func verifyRows(step: Int = 500) async throws(StoreError) -> Int {
    var bad = 0
    for table in Tables.all { bad += try await verify(table, step) }
    return bad
  }

  /// Rows that stand on others which are not there, in words: what was deleted from outside leaves them behind.
  public func looseRows() async throws(StoreError) -> [String] {
    try await read { context, _ in try Reference.all.compactMap { try $0.loose(in: context) } }
  }

  private func verify(_ table: any SignedTable, _ step: Int) async throws(StoreError) -> Int {
    // From the very smallest number on, which somebody may have given a row.
    var place = Int64.min
    var bad = 0
    while true {
      let from = place
      let seen = try await read { context, rows -> (next: Int64?, bad: Int) in
        let page = try context.page(of: table.name, from: from, step: max(1, step))
        guard page.count > 0 else { return (page.next, 0) }
        return (page.next, page.count - (try table.countVerified(context, rows, where: page.condition)))
      }
      bad += seen.bad
      guard let next = seen.next else { return bad }
      place = next
    }
  }
}
