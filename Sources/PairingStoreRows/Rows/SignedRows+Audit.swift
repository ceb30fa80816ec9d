import PairingStore
import RegentPairing
import RegentSQL

extension SignedRows {
  /// Appends a line to the audit log; does nothing for nil.
  func note(_ context: borrowing WriteContext, _ entry: AuditEntry?) throws {
    guard let entry else { return }
    let (found, isWhole) = try context.writtenAuditHead.map { ($0, true) } ?? auditHead(context)
    var head = found.record
    if !isWhole {
      let told = AuditEntry(
        at: entry.at, actor: .service, action: "audit.broken", subject: "audit", outcome: .refused,
        detail: "what says how far the log reaches was removed or put back: lines after \(head.newest) may be missing")
      try append(context, told, to: &head)
    }
    try append(context, entry, to: &head)
    context.note(
      written: try put(context, Tables.auditHead, head, over: found.signature.isEmpty ? nil : found))
  }

  /// The queries that a transaction needs before it can append an audit line.
  static let auditQuestions = [
    Tables.auditHead.row("audit"),
    Question(sql: "SELECT coalesce(max(number), 0) FROM audit", table: Tables.audit.name, columns: []),
  ]

  /// The signed head of the audit log, and whether it is trustworthy.
  ///
  /// If it is missing or older than the log, a new head is made from the newest line that verifies.
  func auditHead(
    _ context: borrowing WriteContext
  ) throws -> (head: Stored<AuditHead>, isWhole: Bool) {
    let stored = try storedHead(context)
    let highest: Int64 = try context.value(SignedRows.auditQuestions[1]) ?? 0
    if let stored, highest <= stored.record.newest { return (stored, true) }
    // Rows have numbers above the head's number. Either an attacker inserted them and they do not verify, or the head
    // comes from an older copy of the database file.
    var newest: Int64 = 0
    try walk(context, Tables.audit, "\(all: Tables.audit) ORDER BY number DESC", expecting: 1) { line in
      newest = line.record.number
      return false
    }
    // Rows above the newest valid line are deleted, because the next lines need their numbers.
    try context.run("DELETE FROM audit WHERE number > \(max(newest, stored?.record.newest ?? 0))")
    if let stored, newest <= stored.record.newest { return (stored, true) }
    let head = AuditHead(floor: newest, newest: newest)
    return (Stored(record: head, values: stored?.values ?? [], signature: stored?.signature ?? []), false)
  }

  func storedHead<Context: Querying & ~Copyable>(
    _ context: borrowing Context
  ) throws -> Stored<AuditHead>? {
    try one(context, Tables.auditHead, Tables.auditHead.row("audit"))
  }

  private func append(
    _ context: borrowing WriteContext, _ entry: AuditEntry, to head: inout AuditHead
  ) throws {
    let (number, isSpent) = head.newest.addingReportingOverflow(1)
    guard !isSpent else { throw StoreError.unavailable(reason: "the audit log has no number left") }
    let signature = try insert(context, Tables.audit, NumberedAuditEntry(number: number, entry: entry))
    head.newest = number
    head.chain = AuditHead.link(head.chain, signature)
  }
}
