internal import RegentCryptography
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// Signed-in browsers: from the cookie to the session, and from a sign-in to the cookie.
struct PhoneSessions: Sendable {
  private let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  /// The session of a cookie, if it is in force and its account stands.
  func find(_ cookie: String?) async throws(StoreError) -> SessionRecord? {
    guard let cookie, BrowserSeals.isID(cookie) else { return nil }
    return try await core.store.session(core.hasher.token(cookie), at: core.clock.now)
  }

  /// Notes that a session is used, at most every five minutes.
  func touch(_ session: SessionRecord) async throws(StoreError) {
    guard core.clock.now.since(session.lastUsed) >= SessionRecord.touchInterval else { return }
    try await core.store.touchSession(session.id, at: core.clock.now)
  }

  /// Signs a browser in: always with a new id, so that one which was slipped in before is worth nothing afterwards.
  ///
  /// `proved` is the hash of the password that was checked; nil for guests.
  /// - Returns: the session and what its cookie says.
  func start(
    as viewer: Viewer, proved: String?, replacing earlier: SessionRecord?, _ request: Request
  ) async throws(StoreError) -> (session: SessionRecord, cookie: String) {
    // Apart from the new one's start, because this way it is known which codes are free again.
    if let earlier { try await end(earlier, audit: nil) }
    guard let id = SessionID(Random.uuid()) else {
      throw .unavailable(reason: "no id could be drawn")
    }
    let cookie = BrowserSeals.newID()
    let now = core.clock.now
    let session = SessionRecord(
      id: id, token: core.hasher.token(cookie), viewer: viewer, started: now, lastUsed: now,
      userAgent: request.header(.userAgent).flatMap { CleanText.line($0) },
      address: request.clientAddress.map(\.description))
    core.codeTransitions.settle(
      try await core.store.startSession(session, replacing: nil, proved: proved, at: now))
    core.metrics.count(.signIns)
    if core.limits.hasSessionLine(for: viewer) { core.audit.note(.viewer(viewer), "session.start", id.text) }
    return (session, cookie)
  }

  /// Signs a browser out; what it had claimed is free again.
  func end(_ session: SessionRecord, audit entry: AuditEntry?) async throws(StoreError) {
    try await core.codeTransitions.endSession(session.id, audit: entry)
  }
}
