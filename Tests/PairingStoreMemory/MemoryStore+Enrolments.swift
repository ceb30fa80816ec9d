public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func invite(_ enrolment: EnrolmentRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    guard records.requestors[enrolment.requestor] != nil else { throw .notFound(what: "requestor") }
    if let there = enrolments[enrolment.id] {
      guard there == enrolment else { throw .codeTaken }
      return
    }
    let others = enrolments.values.filter { $0.requestor == enrolment.requestor && $0.isValid(at: now) }
    guard others.count < EnrolmentRecord.mostOfRequestor else {
      throw .tooManyLiveCodes(limit: EnrolmentRecord.mostOfRequestor)
    }
    enrolments[enrolment.id] = enrolment
    note(entry)
  }

  public func enrolment(_ id: EnrolmentID, at now: Instant) async throws(StoreError) -> EnrolmentRecord? {
    enrolments[id].flatMap { $0.isValid(at: now) ? $0 : nil }
  }

  public func enrolments(at now: Instant) async throws(StoreError) -> [EnrolmentRecord] {
    enrolments.values.filter { $0.isValid(at: now) }.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  public func redeem(
    _ id: EnrolmentID, box: String, with pair: KeyPair, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> KeyPair {
    guard let record = enrolments[id], pair.requestor == record.requestor,
      records.requestors[pair.requestor] != nil
    else { throw EnrolmentRecord.missing }
    if let earlier = try record.pair(of: box, at: now) {
      guard let there = records.keyPairs[earlier], there.state == .active else { throw EnrolmentRecord.missing }
      return there
    }
    enrolments[id] = record.redeemed(by: box, pair.publicKey)
    records.keyPairs[pair.publicKey] = pair
    note(entry)
    return pair
  }

  public func revokeEnrolment(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    guard enrolments.removeValue(forKey: id) != nil else { throw EnrolmentRecord.missing }
    note(entry)
  }
}
