import PairingStore
import RegentCryptography
internal import RegentEncodings
import RegentSQL

/// Reads a whole store as of one moment.
///
/// It verifies, counts and hashes each row and passes it on.
struct StoreWalk {
  let vault: Vault
  /// The number of rows that are read at once.
  var step = 500
  /// A callback for progress.
  ///
  /// It gets the number of rows read so far.
  var seen: @Sendable (Int) -> Void = { _ in }

  /// Reads all tables of a store.
  ///
  /// `take` receives the rows, one page at a time.
  func walk<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ take: (CopiedRows) throws -> Void = { _ in }
  ) throws -> StoreWalkResult {
    var found = StoreWalkResult()
    let known = VerifiedRowCache()
    let head = try SignedRows(vault, known).storedHead(context)?.record
    var lines = head.map { AuditWalk(from: $0) }
    try walk(context, .dataKeys, &found, take) { _ in 0 }
    for table in Tables.all {
      let isAudit = table.name == Tables.audit.name
      try walk(context, RowForm(table), &found, take) { page in
        // Each page gets its own instance: an instance collects every row that fails verification, and a completely
        // corrupt store must not exhaust the memory.
        let rows = SignedRows(vault, known)
        var bad = 0
        for values in page {
          guard case .blob(let signature)? = values.last,
            try table.verifies(context, rows, Array(values.dropLast()), signature)
          else {
            bad += 1
            continue
          }
          guard isAudit, let head, case .integer(let number) = values[0] else { continue }
          if number > head.floor, number <= head.newest {
            lines?.take(number, PseudonymisedLine.chained(values, signature), DroppedLines(values))
          }
        }
        return bad
      }
    }
    found.loose = try Reference.all.compactMap { try $0.loose(in: context) }
    if let head, let lines {
      found.gaps = lines.problems(upTo: head)
    } else {
      found.gaps = [AuditWalk.noHead]
    }
    return found
  }

  private func walk<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ form: RowForm, _ found: inout StoreWalkResult, _ take: (CopiedRows) throws -> Void,
    _ countBad: ([[SQLValue]]) throws -> Int
  ) throws {
    var hash = SHA256()
    var count = 0
    var place: RowForm.Place?
    repeat {
      let page = try form.page(context, after: place, step: step)
      found.unverified += try countBad(page.rows)
      for row in page.rows {
        var fields = FramedFields(purpose: form.name, version: 1)
        for value in row { fields.append(value) }
        hash.update(fields.bytes)
      }
      count += page.rows.count
      seen(found.rows + count)
      if !page.rows.isEmpty {
        try take(CopiedRows(table: form.name, columns: form.columns.map(\.name), rows: page.rows))
      }
      place = page.next
    } while place != nil
    // Compare with a count, to detect a corrupt index. If an index lacked rows, the copy would lack them, too.
    let there: Int = try context.value("SELECT count(*) FROM \(unsafeRawSQL: form.name)") ?? 0
    guard there == count else {
      throw StoreError.unavailable(
        reason: "the table \(form.name) has \(there) rows, and a walk over it finds \(count)")
    }
    found.sums[form.name] = TableSum(rows: count, hash: hash.finish())
  }
}
