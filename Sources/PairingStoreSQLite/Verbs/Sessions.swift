public import RegentPairing
public import PairingStore
import SQLite

extension SQLiteStore {
  /// Keeps a new session.
  public func startSession(_ record: SessionRecord, replacing earlier: SessionID?, at now: Instant)
    async throws(StoreError)
  {
    try await write { context, rows in
      if let refusal = try rows.signInRefusal(context, of: record.viewer) {
        throw StoreError.notInForce(refusal)
      }
      if let earlier, earlier != record.id {
        _ = try rows.endSession(context, earlier, at: now)
      }
      try rows.keep(context, Tables.sessions, record)
    }
  }

  /// The session of a cookie.
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

  /// Notes that a session is used.
  public func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError) {
    let isDue = try await read { context, rows in
      try rows.liveSession(context, id, at: now).record.isDue(at: now)
    }
    guard isDue else { return }
    try await write { context, rows in
      let stored = try rows.liveSession(context, id, at: now)
      guard stored.record.isDue(at: now) else { return }
      try rows.put(context, Tables.sessions, stored.record.used(at: now), over: stored)
    }
  }

  /// Ends a session.
  public func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]?
  {
    try await write { context, rows in
      guard let changes = try rows.endSession(context, id, at: now) else { return nil }
      try rows.note(context, entry)
      return changes
    }
  }

  /// The sessions of a viewer.
  public func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError)
    -> [SessionRecord]
  {
    try await read { context, rows in
      guard try rows.signInRefusal(context, of: viewer) == nil else { return [] }
      return try rows.sessions(context, of: viewer).filter { $0.isValid(at: now) }
    }
  }

  /// The sessions in force behind an id.
  public func sessions(after id: SessionID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [SessionRecord]
  {
    try await read { context, rows in
      var found: [SessionRecord] = []
      guard limit > 0 else { return found }
      let rest: SQL = "\(all: Tables.sessions) WHERE id > \(id?.text ?? "") ORDER BY id"
      try rows.each(context, Tables.sessions, rest) { stored in
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
