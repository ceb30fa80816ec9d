public import PairingStore
import RegentSQL

extension RowStore {
  /// Verifies the signature of every row, at most `step` rows in one transaction.
  ///
  /// An attacker may have changed rows while the service was stopped. This finds such rows and writes them to the audit
  /// log even if no store operation reads them. It is called after the start and by database checks, and writes nothing
  /// but audit lines.
  ///
  /// - Returns: the number of rows that fail verification.
  public func verifyRows(step: Int = 500) async throws(StoreError) -> Int {
    var bad = 0
    for table in Tables.all { bad += try await verify(table, step) }
    return bad
  }

  /// Messages about rows that refer to missing rows.
  ///
  /// An attacker who deletes rows from outside leaves such references behind.
  public func looseRows() async throws(StoreError) -> [String] {
    try await read { context, _ in try Reference.all.compactMap { try $0.loose(in: context) } }
  }

  private func verify(_ table: any SignedTable, _ step: Int) async throws(StoreError) -> Int {
    // Reading starts at the smallest number, because an attacker may have given a row a negative one.
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
