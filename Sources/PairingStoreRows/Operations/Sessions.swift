public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func startSession(
    _ record: SessionRecord, replacing earlier: SessionID?, proved: String?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    try await write(mayUseReserve: record.viewer.account != nil) { context, rows in
      if let refusal = try rows.signInRefusal(context, of: record.viewer) {
        throw StoreError.notInForce(refusal)
      }
      try rows.requireStillPassword(context, proved, of: record.viewer)
      var changes: [RegistrationChange] = []
      if let earlier, earlier != record.id {
        changes += try rows.endSession(context, earlier, at: now) ?? []
      }
      try rows.keep(context, Tables.sessions, record)
      return try changes + rows.makeRoom(context, beside: record, at: now)
    }
  }

  public func session(_ token: TokenHash, at now: Instant) async throws(StoreError)
    -> SessionRecord?
  {
    try await read { context, rows in
      let session = try rows.one(
        context, Tables.sessions, "\(all: Tables.sessions) WHERE token = \(token.bytes)")?.record
      guard let session, session.isValid(at: now),
        try rows.signInRefusal(context, of: session.viewer) == nil
      else { return nil }
      return session
    }
  }

  public func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError) {
    let isDue = try await read { context, rows in
      try rows.liveSession(context, id, at: now).record.isDue(at: now)
    }
    guard isDue else { return }
    try await write(mayUseReserve: true) { context, rows in
      let stored = try rows.liveSession(context, id, at: now)
      guard stored.record.isDue(at: now) else { return }
      try rows.put(context, Tables.sessions, stored.record.used(at: now), over: stored)
    }
  }

  public func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]?
  {
    try await write(mayUseReserve: true) { context, rows in
      guard let changes = try rows.endSession(context, id, at: now) else { return nil }
      try rows.note(context, entry)
      return changes
    }
  }

  public func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError)
    -> [SessionRecord]
  {
    try await read { context, rows in
      guard try rows.signInRefusal(context, of: viewer) == nil else { return [] }
      return try rows.sessions(context, of: viewer).filter { $0.isValid(at: now) }
    }
  }

  public func sessions(after id: SessionID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [SessionRecord]
  {
    try await read { context, rows in
      var found: [SessionRecord] = []
      guard limit > 0 else { return found }
      let rest: SQL = "\(all: Tables.sessions) WHERE id > \(id?.text ?? "") ORDER BY id"
      try rows.walk(context, Tables.sessions, rest, expecting: limit) { stored in
        let session = stored.record
        if session.isValid(at: now),
          try rows.signInRefusal(context, of: session.viewer) == nil
        {
          found.append(session)
        }
        return found.count < limit
      }
      return found
    }
  }
}

extension SignedRows {
  /// Ends the sessions that exceed the limits because of a new one, starting with those unused for the longest time.
  fileprivate func makeRoom(
    _ context: borrowing WriteContext, beside record: SessionRecord, at now: Instant
  ) throws -> [RegistrationChange] {
    let most = SessionRecord.mostOfAccount
    guard record.viewer.account == nil else { return try endOldest(context, beside: record, beyond: most, at: now) }
    // Any visitor may become a guest. The limit for each address makes a flood from one address end only its own
    // sessions.
    return try endOldest(context, beside: record, fromItsAddress: true, beyond: most, at: now)
      + endOldest(context, beside: record, beyond: SessionRecord.mostOfGuests, at: now)
  }

  private func endOldest(
    _ context: borrowing WriteContext, beside record: SessionRecord, fromItsAddress: Bool = false,
    beyond most: Int, at now: Instant
  ) throws -> [RegistrationChange] {
    let viewer = record.viewer
    // Reads the columns without verification: a row that fails verification has no effect, and the only thing that
    // happens to it here is its deletion.
    let others: SQL =
      if fromItsAddress {
        """
        SELECT id FROM session WHERE provider = \(viewer.provider.text)
        AND \("account", is: viewer.account?.text) AND id <> \(record.id.text) AND \("address", is: record.address)
        ORDER BY last_used DESC, id \(unsafeRawSQL: Dialect.noLimit) OFFSET \(most - 1)
        """
      } else {
        """
        SELECT id FROM session WHERE provider = \(viewer.provider.text)
        AND \("account", is: viewer.account?.text) AND id <> \(record.id.text)
        ORDER BY last_used DESC, id \(unsafeRawSQL: Dialect.noLimit) OFFSET \(most - 1)
        """
      }
    let ids = try context.all(others) { try $0.text(0) }
    var changes: [RegistrationChange] = []
    for id in ids {
      if let id = SessionID(id) { changes += try endSession(context, id, at: now) ?? [] }
      try context.run("DELETE FROM session WHERE id = \(id)")
    }
    return changes
  }

  fileprivate func endSession(
    _ context: borrowing WriteContext, _ id: SessionID, at now: Instant
  ) throws -> [RegistrationChange]? {
    let session = try one(
      context, Tables.sessions, "\(all: Tables.sessions) WHERE id = \(id.text)")
    return try session.map { try endSessions(context, [$0.record], at: now) }
  }
}

extension SessionRecord {
  fileprivate func isDue(at now: Instant) -> Bool {
    now.since(lastUsed) >= SessionRecord.touchInterval
  }
}
