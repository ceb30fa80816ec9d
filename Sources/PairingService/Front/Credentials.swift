internal import RegentHTTPCodec
package import HTTPServer
package import RegentPairing
internal import RegentCryptography
internal import PairingStore
internal import RegentPairingWire
internal import RegentPlatform

/// Who calls.
package enum Caller: Hashable, Sendable {
  /// Somebody with a requestor's secret.
  case keyPair(RequestorID, PublicKey)
  /// A registered client of a requestor's application.
  case client(RequestorID, ClientID, StatementID)
  /// A client of OAuth, with what a viewer gave it.
  case grant(RequestorID, ClientID, GrantID)

  /// For whose app.
  package var requestor: RequestorID {
    switch self {
    case .keyPair(let requestor, _), .client(let requestor, _, _), .grant(let requestor, _, _): requestor
    }
  }
}

/// Who calls, and what the call uses up once it is let through.
package struct SignedCaller: Sendable {
  package let caller: Caller
  /// What the caller's access token says, when there was one: true for as long as the same token is shown.
  package let claims: AccessTokens.Claims?
  fileprivate let use: NonceUse?
  /// How the next call of the same caller is read; nil when this one was read so, or has a token.
  package let signer: KnownSigner?
}

/// What the signed header of a call says of the next one in the same words.
///
/// What its words decide under one policy: for whom the key is, method and path. Not whether the key stands.
/// An object, as callers are handed on with it: a signed poll takes 370 instructions less by it.
package final class KnownSigner: Sendable {
  fileprivate let shape: SignedHeaderShape
  /// What the words agree with.
  fileprivate let policy: SignaturePolicy
  fileprivate let nonces: KeyNonces?

  fileprivate init(shape: SignedHeaderShape, policy: SignaturePolicy, nonces: KeyNonces?) {
    (self.shape, self.policy, self.nonces) = (shape, policy, nonces)
  }
}

/// Checks who makes a call of protocol V1, by its signed header or its access token.
///
/// It looks at memory only, so it runs on the event loops.
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

  /// Who made a request.
  ///
  /// - Returns: nil when the credentials are of OAuth, which the store has to be asked about.
  /// - Throws: 401 for whatever is wrong with the credentials, 400 for two kinds of them, 403 for a client whose
  ///   application was revoked: that one must register again.
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

  /// What the header says, before anything of it is believed.
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

  // MARK: - Registered clients

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

  /// Who shows a token that was read before: whether it is over, and its application, are looked at each time.
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

  /// Who makes a call in the words of one that was let through, with a signed header of the same shape.
  ///
  /// - Returns: nil when anything else in it differs, or in what operators made: then all of it is to be read.
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
      // As long as with a known key: the time does not tell which keys there are.
      _ = stranger.isValid(call.signature, for: call.signedText)
      // One look in memory for either: what the log is told shows in no answer and in no time.
      let isRevoked = provisioned.records.keyPairs[call.publicKey].map(\.isRevokedForCalls) ?? false
      throw refused(
        isRevoked ? "revoked key" : "unknown key", request, call.requestor, call.publicKey)
    }
    let (policy, owner) = (key.policy, key.pair.requestor)
    let mac = call.signatureMethod == .hmacSHA256 ? key.sha256 : key.sha1
    // Computed whatever the policy says, for the same reason.
    let isGenuine = mac.isValid(call.signature, for: call.signedText)
    var use: NonceUse?
    do throws(SignatureRefusal) {
      try request.withHead { (head, bytes) throws(SignatureRefusal) in
        try policy.check(
          call, owner: owner, method: head.method.token,
          path: bytes.extracting(head.path.indices), at: now)
      }
      guard isGenuine else { throw .wrongSignature }
      // Last, and only for what somebody with the secret has signed. A repeated header must not count as a call of the
      // box that signed it: whoever saw one could use up the box's limit.
      if policy.remembersNonces {
        use = try nonces.check(
          call.signedText.span.extracting(call.places.nonce), of: call.publicKey, signedAt: call.requestTime,
          from: request.clientAddress?.shareOfRoom, at: now)
      }
    } catch {
      let refusal = refused(error, request, owner, call.publicKey)
      // A client that has the secret may know whose key pair it holds; others hear nothing.
      throw error == .wrongRequestor && isGenuine ? .otherRequestor : refusal
    }
    let signer = KnownSigner(shape: SignedHeaderShape(call), policy: policy, nonces: use?.nonces)
    return caller(with: key, use, signer, at: now)
  }

  /// Somebody who has signed a call.
  private func caller(
    with key: ProvisioningSnapshot.CallKey, _ use: NonceUse?, _ signer: KnownSigner?, at now: Instant
  ) -> SignedCaller {
    if key.hasToNoteUse(at: now) { keyUses.note(key.pair.publicKey, at: now) }
    // Boxes in the field still have it; once this stands still, revoking it hurts nobody.
    if key.pair.state == .retired { metrics.count(.callsByRetiredKeys) }
    return SignedCaller(
      caller: .keyPair(key.pair.requestor, key.pair.publicKey), claims: nil, use: use, signer: signer)
  }

  /// Uses the caller's nonce up: after the limits, so that what they turn away takes no room.
  ///
  /// - Throws: 401 for one that was used meanwhile, 429 when there is no room to remember it.
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

  /// A line for whoever runs the service; the requestor is what the caller claims until its key is known.
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
  /// What the room for nonces is shared by: the address, or the /48 of an IPv6 address, in which one subscriber may
  /// have 65,536 networks.
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
  /// The token of `Bearer TOKEN`; nothing for another scheme.
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

/// Access tokens by their look: those of protocol V1 have a code of one key, and those of OAuth a signature.
private enum OAuthTokens {
  static func mayBe(_ text: String) -> Bool {
    guard let token = try? UnverifiedJWS(text) else { return false }
    return SignatureAlgorithm(rawValue: token.algorithm) != nil
  }
}
