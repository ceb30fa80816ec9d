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
    // The pairs first: rows of a pair that does not verify fall with it.
    bad += try await verify(Tables.keyPairs, step)
    bad += try await verify(Tables.signingKeys, step)
    bad += try await verify(Tables.requestors, step)
    bad += try await verify(Tables.providers, step)
    bad += try await verify(Tables.integrations, step)
    bad += try await verify(Tables.accounts, step)
    bad += try await verify(Tables.passwords, step)
    bad += try await verify(Tables.entitlements, step)
    bad += try await verify(Tables.applications, step)
    bad += try await verify(Tables.clients, step)
    bad += try await verify(Tables.boxes, step)
    bad += try await verify(Tables.platformPermissions, step)
    bad += try await verify(Tables.usedRequests, step)
    bad += try await verify(Tables.enrolments, step)
    bad += try await verify(Tables.oauthClients, step)
    bad += try await verify(Tables.grants, step)
    bad += try await verify(Tables.clientInvitations, step)
    bad += try await verify(Tables.registrations, step)
    bad += try await verify(Tables.authentications, step)
    bad += try await verify(Tables.permits, step)
    bad += try await verify(Tables.passes, step)
    bad += try await verify(Tables.sessions, step)
    bad += try await verify(Tables.screenNames, step)
    bad += try await verify(Tables.numbers, step)
    bad += try await verify(Tables.loginFailures, step)
    bad += try await verify(Tables.audit, step)
    bad += try await verify(Tables.auditHead, step)
    return bad
  }

  private func verify<Record>(_ table: Table<Record>, _ step: Int) async throws(StoreError) -> Int {
    // From the very smallest number on, which somebody may have given a row.
    var place = Int64.min
    var bad = 0
    while true {
      let from = place
      let seen = try await read { context, rows -> (next: Int64?, bad: Int) in
        let page = try context.page(of: table.name, from: from, step: max(1, step))
        guard page.count > 0 else { return (page.next, 0) }
        let good = try rows.all(context, table, "\(all: table) WHERE \(part: page.condition)")
        return (page.next, page.count - good.count)
      }
      bad += seen.bad
      guard let next = seen.next else { return bad }
      place = next
    }
  }
}
