internal import HTTPCodec
package import HTTPServer
package import Pairing
internal import Cryptography
internal import PairingStore
internal import PairingWire
internal import Platform

/// Who calls.
package enum Caller: Hashable, Sendable {
  /// Somebody with a requestor's secret.
  case keyPair(RequestorID, PublicKey)
  /// A registered client of a requestor's application.
  case client(RequestorID, ClientID, StatementID)

  /// For whose app.
  package var requestor: RequestorID {
    switch self {
    case .keyPair(let requestor, _), .client(let requestor, _, _): requestor
    }
  }
}

/// The one place that checks who calls: signed headers and access tokens.
///
/// It looks at memory only, so it runs on the event loops.
package final class Credentials: Sendable {
  private let provisioning: ProvisioningCache
  private let tokens: AccessTokens
  private let startedAt: Instant
  private let log: ServiceLog
  private let metrics: ServiceMetrics
  private let stranger: HMACKey
  private let clock: ServiceClock
  private let replays = Locked([PublicKey: ReplayWindow]())
  private static let lineRate = RateLimit(perSecond: 10, burst: 200)
  private let lines = Locked(RateMeter())

  init(
    provisioning: ProvisioningCache, tokens: AccessTokens, clock: ServiceClock, log: ServiceLog,
    metrics: ServiceMetrics
  ) throws {
    stranger = try HMACKey(.sha256, Random.secret())
    self.provisioning = provisioning
    self.tokens = tokens
    self.clock = clock
    startedAt = clock.now
    self.log = log
    self.metrics = metrics
  }

  /// Who made a request.
  ///
  /// - Throws: 401 for whatever is wrong with the credentials, 400 for two kinds of them, 403 for a client whose
  ///   application was revoked: that one must register again.
  package func caller(
    of request: Request, _ parameters: CallParameters, at now: Instant
  ) throws(CallError) -> Caller {
    let header = try authorization(request)
    let parameter = try parameters.value(Field.accessToken)
    guard header == nil || parameter == nil else {
      throw CallError(
        .badRequest, details: "send credentials once: in the header or as \(Field.accessToken)")
    }
    if let parameter { return try client(parameter, at: now) }
    guard let header else { throw .notAuthorized }
    if let token = header.bearerToken { return try client(token, at: now) }
    return try keyPair(header, request, at: now)
  }

  private func authorization(_ request: Request) throws(CallError) -> String? {
    do throws(RequestTextError) {
      return try request.singleHeader(.authorization)
    } catch {
      throw refused("repeated or unreadable header")
    }
  }

  // MARK: - Registered clients

  private func client(_ token: String, at now: Instant) throws(CallError) -> Caller {
    guard let claims = tokens.read(token, at: now) else {
      note("access token")
      throw .accessDenied
    }
    let application = provisioning.now.records.applications[claims.application]
    guard let application, application.requestor == claims.requestor, !application.isRevoked else {
      note("revoked application", claims.requestor)
      throw .invalidClient
    }
    return .client(claims.requestor, claims.client, claims.application)
  }

  // MARK: - Signed headers

  private func keyPair(_ header: String, _ request: Request, at now: Instant)
    throws(CallError) -> Caller
  {
    let call: SignedCall
    do throws(SignedHeaderError) {
      call = try SignedHeader.read(header)
    } catch {
      throw refused("\(error)")
    }
    let provisioned = provisioning.now
    guard let key = provisioned.callKeys[call.publicKey],
      let requestor = provisioned.requestor(key.pair.requestor)
    else {
      // As long as with a known key: the time does not tell which keys there are.
      _ = stranger.isValid(call.signature, for: call.signedText)
      throw refused("unknown key")
    }
    let policy = requestor.signaturePolicy
    let mac = call.signatureMethod == .hmacSHA256 ? key.sha256 : key.sha1
    // Computed whatever the policy says, for the same reason.
    let isGenuine = mac.isValid(call.signature, for: call.signedText)
    do throws(SignatureRefusal) {
      try policy.check(
        call, owner: requestor.id, method: request.method.token, path: request.path, at: now)
      guard isGenuine else { throw .wrongSignature }
      // Last, and only for what somebody with the secret has signed: strangers cannot fill the memory of nonces.
      if policy.remembersNonces { try remember(call, at: now) }
    } catch {
      throw refused("\(error)", requestor.id)
    }
    return .keyPair(requestor.id, call.publicKey)
  }

  private func remember(_ call: SignedCall, at now: Instant) throws(SignatureRefusal) {
    // Swift's hash is keyed anew in every process: nobody can choose two nonces that collide.
    var hasher = Hasher()
    hasher.combine(call.nonce)
    let nonce = UInt64(bitPattern: Int64(hasher.finalize()))
    try replays.withLock { replays throws(SignatureRefusal) in
      try replays[call.publicKey, default: ReplayWindow(startingAt: startedAt)]
        .accept(nonce: nonce, signedAt: call.requestTime, at: now)
    }
  }

  private func refused(_ reason: String, _ requestor: RequestorID? = nil) -> CallError {
    note(reason, requestor)
    return .notAuthorized
  }

  private func note(_ reason: String, _ requestor: RequestorID? = nil) {
    metrics.count(.callsRefused)
    // Strangers decide how often this happens: they must not fill the disk with it.
    let verdict = lines.withLock { $0.take(of: Self.lineRate, at: clock.uptime) }
    guard case .within = verdict else { return }
    log.info("call-refused", ("reason", reason), ("requestor", requestor?.text ?? ""))
  }
}

extension String {
  /// The token of `Bearer TOKEN`; nothing for another scheme.
  fileprivate var bearerToken: String? {
    let scheme = "bearer "
    guard utf8.count > scheme.utf8.count,
      zip(utf8, scheme.utf8).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 })
    else { return nil }
    return String(decoding: utf8.dropFirst(scheme.utf8.count).drop { $0 == 0x20 }, as: UTF8.self)
  }
}
