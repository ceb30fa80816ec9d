public import PairingStore
import SQLite

extension SQLiteStore {
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
      let seen = try await read { context, rows -> (last: Int64, bad: Int)? in
        let places: [Int64] = try context.all(
          """
          SELECT rowid FROM \(unsafeRawSQL: table.name) WHERE rowid >= \(from)
          ORDER BY rowid LIMIT \(max(1, step))
          """
        ) { try $0.integer(0) }
        guard let last = places.last else { return nil }
        let good = try rows.all(
          context, table, "\(all: table) WHERE rowid >= \(from) AND rowid <= \(last)")
        return (last, places.count - good.count)
      }
      guard let seen else { return bad }
      bad += seen.bad
      guard seen.last < .max else { return bad }
      place = seen.last + 1
    }
  }
}
