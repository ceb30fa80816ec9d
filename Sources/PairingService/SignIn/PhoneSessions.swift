internal import RegentCryptography
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// Signed-in browsers: from the cookie to the session, and from a sign-in to the cookie.
struct PhoneSessions: Sendable {
  /// Two sign-ins of one browser within this time may be on their way at once: which cookie it keeps is not known yet.
  private static let overlap: Duration = .seconds(60)
  private let core: ServiceCore
  private let seals: BrowserSeals

  init(_ core: ServiceCore, _ seals: BrowserSeals) {
    self.core = core
    self.seals = seals
  }

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
    as viewer: Viewer, proved: String?, replacing earlier: SessionRecord?, in browserID: String, _ request: Request
  ) async throws(StoreError) -> (session: SessionRecord, cookie: String) {
    // Apart from the new one's start, because this way it is known which codes are free again.
    if let earlier { try await end(earlier, audit: nil) }
    guard let id = seals.newSessionID(browserID: browserID) else {
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
    try await endLost(beside: session, of: browserID)
    if core.limits.hasSessionLine(for: viewer) { core.audit.note(.viewer(viewer), "session.start", id.text) }
    return (session, cookie)
  }

  /// Ends the viewer's earlier sessions of the same browser, whose cookies it does not send: their answers were lost.
  ///
  /// Guests share one name: theirs are too many to read, end after ``SessionRecord/idle`` and are bounded by address.
  private func endLost(beside session: SessionRecord, of browserID: String) async throws(StoreError) {
    guard session.viewer.account != nil else { return }
    for other in try await core.store.sessions(of: session.viewer, at: session.started)
    where other.id != session.id && session.started.since(other.started) >= Self.overlap
      && seals.isSession(other.id, of: browserID)
    {
      try await end(other, audit: nil)
    }
  }

  /// Signs a browser out; what it had claimed is free again.
  func end(_ session: SessionRecord, audit entry: AuditEntry?) async throws(StoreError) {
    try await core.codeTransitions.endSession(session.id, audit: entry)
  }
}
