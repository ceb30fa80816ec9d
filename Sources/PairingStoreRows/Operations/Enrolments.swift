public import PairingStore
public import RegentPairing
import RegentSQL

extension RowStore {
  public func invite(_ enrolment: EnrolmentRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.requestor(context, enrolment.requestor) != nil else {
        throw StoreError.notFound(what: "requestor")
      }
      if let there = try rows.enrolment(context, enrolment.id)?.record {
        guard there == enrolment else { throw StoreError.codeTaken }
        return
      }
      let others = try rows.all(
        context, Tables.enrolments,
        """
        \(all: Tables.enrolments) WHERE requestor = \(enrolment.requestor.text) AND expires > \(now.milliseconds)
        """)
      guard others.count < EnrolmentRecord.mostOfRequestor else {
        throw StoreError.tooManyLiveCodes(limit: EnrolmentRecord.mostOfRequestor)
      }
      try rows.insert(context, Tables.enrolments, enrolment)
      try rows.note(context, entry)
    }
  }

  public func enrolment(_ id: EnrolmentID, at now: Instant) async throws(StoreError) -> EnrolmentRecord? {
    try await read { context, rows in
      guard let record = try rows.enrolment(context, id)?.record, record.isValid(at: now) else { return nil }
      return record
    }
  }

  public func enrolments(at now: Instant) async throws(StoreError) -> [EnrolmentRecord] {
    try await read { context, rows in
      try rows.all(
        context, Tables.enrolments,
        "\(all: Tables.enrolments) WHERE expires > \(now.milliseconds) ORDER BY created, id"
      ).map(\.record)
    }
  }

  public func redeem(
    _ id: EnrolmentID, box: String, with pair: KeyPair, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> KeyPair {
    try await write { context, rows in
      guard let stored = try rows.enrolment(context, id), pair.requestor == stored.record.requestor else {
        throw EnrolmentRecord.missing
      }
      if let earlier = try stored.record.pair(of: box, at: now) {
        guard let there = try rows.pair(context, earlier)?.record, there.state == .active else {
          throw EnrolmentRecord.missing
        }
        return there
      }
      guard try rows.requestor(context, pair.requestor) != nil else { throw EnrolmentRecord.missing }
      try rows.update(
        context, Tables.enrolments, stored,
        [(name: "boxes", value: stored.record.redeemed(by: box, pair.publicKey).boxColumn.column)])
      try rows.insert(context, Tables.keyPairs, pair)
      try rows.note(context, entry)
      return pair
    }
  }

  public func revokeEnrolment(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.enrolment(context, id) != nil else { throw EnrolmentRecord.missing }
      try context.run("DELETE FROM enrolment WHERE id = \(id.text)")
      try rows.note(context, entry)
    }
  }
}

extension SignedRows {
  fileprivate func enrolment<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: EnrolmentID
  ) throws -> Stored<EnrolmentRecord>? {
    try one(context, Tables.enrolments, Tables.enrolments.row(id.text))
  }
}
