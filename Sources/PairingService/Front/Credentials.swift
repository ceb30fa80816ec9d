internal import RegentHTTPCodec
package import HTTPServer
package import RegentPairing
internal import RegentCryptography
internal import PairingStore
internal import RegentPairingWire
internal import RegentPlatform

/// The authenticated sender of a request.
package enum Caller: Hashable, Sendable {
  /// The sender proved with a signature that it has the secret of this key pair of the requestor.
  case keyPair(RequestorID, PublicKey)
  case client(RequestorID, ClientID, StatementID)
  /// The sender is an OAuth client with an access token of this grant.
  case grant(RequestorID, ClientID, GrantID)

  /// The requestor whose app sent the request.
  package var requestor: RequestorID {
    switch self {
    case .keyPair(let requestor, _), .client(let requestor, _, _), .grant(let requestor, _, _): requestor
    }
  }
}

/// The authenticated sender of a request, and the nonce that the request will use up after the rate limits.
package struct SignedCaller: Sendable {
  package let caller: Caller
  /// The claims of the access token, if the request had one.
  ///
  /// They are the same in every later request with the same token.
  package let claims: AccessTokens.Claims?
  fileprivate let use: NonceUse?
  /// The verified facts with which the sender's next request is checked faster.
  ///
  /// Nil when this request was itself checked in that way, or had a token.
  package let signer: KnownSigner?
}

/// The facts about a verified signed header that also hold for the sender's later headers.
///
/// It covers the key's requestor, the method and the path, as checked under one policy. The key's validity, the time,
/// the nonce and the signature must be checked each time. It is a class because it is passed on with each sender: that
/// saves 370 instructions for each signed poll.
package final class KnownSigner: Sendable {
  fileprivate let shape: SignedHeaderShape
  /// The requestor's policy under which the header was checked.
  fileprivate let policy: SignaturePolicy
  fileprivate let nonces: KeyNonces?

  fileprivate init(shape: SignedHeaderShape, policy: SignaturePolicy, nonces: KeyNonces?) {
    (self.shape, self.policy, self.nonces) = (shape, policy, nonces)
  }
}

/// Authenticates requests of protocol V1, by their signed header or access token.
///
/// It reads only memory, so it runs on the event loops.
package final class Credentials: Sendable {
  private let provisioning: ProvisioningCache
  private let tokens: AccessTokens
  private let keyUses: KeyUseTimes
  private let nonces: UsedNonces
  private let log: ServiceLog
  private let metrics: ServiceMetrics
  private let stranger: HMACKey

  init(
    provisioning: ProvisioningCache, tokens: AccessTokens, keyUses: KeyUseTimes, nonces: UsedNonces,
    log: ServiceLog, metrics: ServiceMetrics
  ) throws {
    stranger = try HMACKey(.sha256, Random.secret())
    self.provisioning = provisioning
    self.tokens = tokens
    self.keyUses = keyUses
    self.nonces = nonces
    self.log = log
    self.metrics = metrics
  }

  /// Authenticates the sender of a request.
  ///
  /// - Returns: nil for OAuth credentials, which must be looked up in the store.
  /// - Throws: 401 for wrong credentials, 400 for credentials that are repeated or for a parameter that cannot be read,
  ///   403 for a client whose application was revoked and that must register again.
  package func caller(
    of request: Request, _ parameters: CallParameters, at now: Instant
  ) throws(CallError) -> SignedCaller? {
    let shown = try authorization(request)
    let parameter = try parameters.value(Field.accessToken)
    guard shown == nil || parameter == nil else {
      throw CallError(
        .badRequest, details: "send credentials once: in the header or as \(Field.accessToken)")
    }
    if let parameter { return try client(parameter, request, at: now) }
    switch consume shown {
    case .token(let token):
      return try client(token, request, at: now)
    case .signed(let call): return try keyPair(call, request, at: now)
    case .unreadable where request.header(.authorization)?.lowercased().hasPrefix("dpop ") == true: return nil
    case .unreadable(let error): throw refused("\(error)", request)
    case nil: throw .notAuthorized
    }
  }

  /// The content of the `Authorization` header, not yet verified.
  private enum Shown {
    case token(String)
    case signed(SignedCall)
    case unreadable(SignedHeaderError)
  }

  private func authorization(_ request: Request) throws(CallError) -> Shown? {
    do throws(RequestTextError) {
      return try request.withSingleHeader(.authorization) { text in
        guard let text else { return nil }
        let bytes = text.span
        if let token = bytes.bearerToken { return .token(token) }
        do throws(SignedHeaderError) {
          return .signed(try SignedHeader.read(bytes))
        } catch {
          return .unreadable(error)
        }
      }
    } catch {
      throw refused("repeated or unreadable header", request)
    }
  }

  // MARK: - Access tokens of registered clients

  private func client(_ token: String, _ request: Request, at now: Instant)
    throws(CallError) -> SignedCaller?
  {
    guard let claims = tokens.read(token, at: now) else {
      if OAuthTokens.mayBe(token) { return nil }
      note("access token", request)
      throw .accessDenied
    }
    return try caller(claims, request, at: now)
  }

  /// Authenticates the sender by the claims of an access token that was verified before.
  ///
  /// The expiry and the application are checked again each time.
  package func caller(_ claims: AccessTokens.Claims, _ request: Request, at now: Instant)
    throws(CallError) -> SignedCaller
  {
    guard now < claims.expires else {
      note("access token", request)
      throw .accessDenied
    }
    let application = provisioning.now.records.applications[claims.application]
    guard let application, application.requestor == claims.requestor, !application.isRevoked else {
      note("revoked application", request, claims.requestor)
      throw .invalidClient
    }
    let caller = Caller.client(claims.requestor, claims.client, claims.application)
    return SignedCaller(caller: caller, claims: claims, use: nil, signer: nil)
  }

  // MARK: - Signed headers

  /// Authenticates a request that equals an earlier one, except for the time, nonce and signature in its signed header.
  ///
  /// - Returns: nil when anything else differs, or when an operator has changed the key or its requestor: then the
  ///   whole request must be read.
  func caller(of request: Request, like known: RememberedPoll, at now: Instant) throws(CallError) -> SignedCaller? {
    guard let signer = known.signer, let key = provisioning.now.callKeys[signer.shape.publicKey],
      key.policy == signer.policy, key.pair.requestor == signer.shape.requestor
    else { return nil }
    return try known.head.withCredentials(of: request) { (header, before) throws(CallError) -> SignedCaller? in
      guard let news = signer.shape.read(header, like: before) else { return nil }
      let mac = signer.shape.signatureMethod == .hmacSHA256 ? key.sha256 : key.sha1
      let isGenuine = mac.isValid(news.signature.span, for: header.extracting(news.signedText))
      var use: NonceUse?
      do throws(SignatureRefusal) {
        try SignaturePolicy.check(news.requestTime, at: now)
        guard isGenuine else { throw .wrongSignature }
        if key.policy.remembersNonces {
          use = try nonces.check(
            header.extracting(news.nonce), of: key.pair.publicKey, signer.nonces, signedAt: news.requestTime,
            from: request.clientAddress?.shareOfRoom, at: now)
        }
      } catch {
        throw refused(error, request, key.pair.requestor, key.pair.publicKey)
      }
      return caller(with: key, use, nil, at: now)
    }
  }

  private func keyPair(_ call: SignedCall, _ request: Request, at now: Instant)
    throws(CallError) -> SignedCaller
  {
    let provisioned = provisioning.now
    guard let key = provisioned.callKeys[call.publicKey] else {
      // The key is unknown. A signature is verified all the same, so that timing does not reveal which keys exist.
      _ = stranger.isValid(call.signature, for: call.signedText)
      // Revoked and unknown keys take the same look-up in memory. Only the log contains the reason. Neither the
      // response nor its time shows it.
      let isRevoked = provisioned.records.keyPairs[call.publicKey].map(\.isRevokedForCalls) ?? false
      throw refused(
        isRevoked ? "revoked key" : "unknown key", request, call.requestor, call.publicKey)
    }
    let (policy, owner) = (key.policy, key.pair.requestor)
    let mac = call.signatureMethod == .hmacSHA256 ? key.sha256 : key.sha1
    // The signature is verified whatever the requestor's policy says, so that the time does not depend on the policy.
    let isGenuine = mac.isValid(call.signature, for: call.signedText)
    var use: NonceUse?
    do throws(SignatureRefusal) {
      try request.withHead { (head, bytes) throws(SignatureRefusal) in
        try policy.check(
          call, owner: owner, method: head.method.token,
          path: bytes.extracting(head.path.indices), at: now)
      }
      guard isGenuine else { throw .wrongSignature }
      // The nonce is used up last, and only after the signature was verified. A replayed header must not count as a
      // request of the box that signed it, because an attacker who has seen one could use up the box's rate limit.
      if policy.remembersNonces {
        use = try nonces.check(
          call.signedText.span.extracting(call.places.nonce), of: call.publicKey, signedAt: call.requestTime,
          from: request.clientAddress?.shareOfRoom, at: now)
      }
    } catch {
      let refusal = refused(error, request, owner, call.publicKey)
      // A client that has the secret may learn that its key pair belongs to another requestor. Other clients get the
      // usual 401.
      throw error == .wrongRequestor && isGenuine ? .otherRequestor : refusal
    }
    let signer = KnownSigner(shape: SignedHeaderShape(call), policy: policy, nonces: use?.nonces)
    return caller(with: key, use, signer, at: now)
  }

  /// Makes the authenticated sender from a verified signature.
  private func caller(
    with key: ProvisioningSnapshot.CallKey, _ use: NonceUse?, _ signer: KnownSigner?, at now: Instant
  ) -> SignedCaller {
    if key.hasToNoteUse(at: now) { keyUses.note(key.pair.publicKey, at: now) }
    // Requests that boxes sign with the retired key are counted. When the counter no longer grows, an operator can
    // revoke the key.
    if key.pair.state == .retired { metrics.count(.callsByRetiredKeys) }
    return SignedCaller(
      caller: .keyPair(key.pair.requestor, key.pair.publicKey), claims: nil, use: use, signer: signer)
  }

  /// Marks the request's nonce as used.
  ///
  /// It is called after the rate limits, so that refused requests take no room in the replay window.
  ///
  /// - Throws: 401 when another request used the nonce in the meantime, 429 when there is no room to remember it.
  package func useUp(_ signed: SignedCaller, _ request: Request, at now: Instant)
    throws(CallError)
  {
    guard let use = signed.use, case .keyPair(let requestor, let key) = signed.caller else { return }
    do throws(SignatureRefusal) {
      try nonces.take(use, of: key, at: now)
    } catch {
      throw refused(error, request, requestor, key)
    }
  }

  private func refused(
    _ reason: SignatureRefusal, _ request: Request, _ requestor: RequestorID, _ key: PublicKey
  ) -> CallError {
    if reason == .outsideWindow { metrics.count(.callsOutsideWindow) }
    let error = refused("\(reason)", request, requestor, key)
    guard reason == .tooMany else { return error }
    metrics.count(.requestsThrottled)
    return .tooMany(retryAfter: UsedNonces.pause)
  }

  private func refused(
    _ reason: String, _ request: Request, _ requestor: RequestorID? = nil, _ key: PublicKey? = nil
  ) -> CallError {
    note(reason, request, requestor, key)
    return .notAuthorized
  }

  /// Logs a refused request.
  ///
  /// Until the key is known, the logged requestor is only what the client claims.
  private func note(
    _ reason: String, _ request: Request, _ requestor: RequestorID? = nil, _ key: PublicKey? = nil
  ) {
    metrics.count(.callsRefused)
    log.info(
      "call-refused", ("reason", reason), ("requestor", requestor?.text ?? ""),
      ("key", key?.text ?? ""), ("address", request.clientAddress?.description ?? ""))
  }
}

extension IPAddress {
  /// The network whose clients share the room for nonces: an IPv4 address, or the /48 of an IPv6 address, because one
  /// subscriber may have the 65,536 networks in a /48.
  fileprivate var shareOfRoom: UInt64 {
    var hasher = Hasher()
    hasher.combine(isIPv4 ? low : high >> 16)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

extension KeyPair {
  fileprivate var isRevokedForCalls: Bool { purpose == .calls && state == .revoked }
}

extension Span<UInt8> {
  /// The token in an `Authorization: Bearer` header; nil for another scheme.
  fileprivate var bearerToken: String? {
    let scheme = "bearer ".utf8.span
    guard count > scheme.count else { return nil }
    for place in scheme.indices {
      guard self[place] == scheme[place] || self[place] | 0x20 == scheme[place] else { return nil }
    }
    var start = scheme.count
    while start < count, self[start] == 0x20 { start += 1 }
    guard let token = try? UTF8Span(validating: extracting(start..<count)) else { return nil }
    return String(copying: token)
  }
}

/// Distinguishes OAuth access tokens from those of protocol V1: OAuth's have a signature algorithm, V1's an HMAC.
private enum OAuthTokens {
  static func mayBe(_ text: String) -> Bool {
    guard let token = try? UnverifiedJWS(text) else { return false }
    return SignatureAlgorithm(rawValue: token.algorithm) != nil
  }
}
