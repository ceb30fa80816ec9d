internal import RegentCryptography
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

/// Starts, finds and ends the sessions of signed-in browsers.
struct PhoneSessions: Sendable {
  /// How long after its start a session is not ended by another sign-in of the same browser.
  ///
  /// Within this time, responses to both sign-ins may be on their way, and the browser may keep either cookie.
  private static let overlap: Duration = .seconds(60)
  private let core: ServiceCore
  private let seals: BrowserSeals

  init(_ core: ServiceCore, _ seals: BrowserSeals) {
    self.core = core
    self.seals = seals
  }

  /// The session whose cookie this is, if it is valid and its account is not disabled.
  func find(_ cookie: String?) async throws(StoreError) -> SessionRecord? {
    guard let cookie, BrowserSeals.isID(cookie) else { return nil }
    return try await core.store.session(core.hasher.token(cookie), at: core.clock.now)
  }

  /// Records that the session was used, at most every five minutes.
  func touch(_ session: SessionRecord) async throws(StoreError) {
    guard core.clock.now.since(session.lastUsed) >= SessionRecord.touchInterval else { return }
    try await core.store.touchSession(session.id, at: core.clock.now)
  }

  /// Signs a browser in with a new session id.
  ///
  /// An id that an attacker planted before the sign-in is therefore worthless (session fixation). `proved` is the
  /// stored hash with which the password was checked; nil for guests. `requestor` is that of the guest's code.
  /// - Returns: the session and the value of its cookie.
  func start(
    as viewer: Viewer, proved: String?, replacing earlier: SessionRecord?, in browserID: String, _ request: Request,
    at requestor: RequestorID?
  ) async throws(StoreError) -> (session: SessionRecord, cookie: String) {
    // The earlier session is ended by a call of its own, because that call reports which codes lose their claims.
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
    if core.limits.hasSessionLine(for: viewer),
      let line = core.audit.entry(
        of: viewer, "session.start", id.text, detail: session.address.map { "from \($0)" } ?? "", at: requestor,
        from: request.clientAddress)
    {
      core.audit.note(line, from: nil)
    }
    return (session, cookie)
  }

  /// Ends the viewer's earlier sessions in the same browser whose cookies the browser does not send, because the
  /// responses with them were lost.
  ///
  /// Guests are skipped. They share one identity, so their sessions are too many to read. A guest's session ends after
  /// ``SessionRecord/idle``, and their number is limited per address.
  private func endLost(beside session: SessionRecord, of browserID: String) async throws(StoreError) {
    guard session.viewer.account != nil else { return }
    for other in try await core.store.sessions(of: session.viewer, at: session.started)
    where other.id != session.id && session.started.since(other.started) >= Self.overlap
      && seals.isSession(other.id, of: browserID)
    {
      try await end(other, audit: nil)
    }
  }

  /// Ends a session and its claims on codes.
  func end(_ session: SessionRecord, audit entry: AuditEntry?) async throws(StoreError) {
    try await core.codeTransitions.endSession(session.id, audit: entry)
  }
}
