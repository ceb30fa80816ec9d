internal import Administration
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentPairingWire

// Admin routes for media tokens and for the keys that sign tokens.

extension AdminRouteBuilder {
  mutating func mountTokens() {
    on(.post, AdminPaths.verifyToken) { call throws(AdminError) in
      .document(call.verdict(on: try call.document()))
    }
  }

  mutating func mountSigningKeys() {
    on(.get, AdminPaths.signingKeys) { call throws(AdminError) in
      .list(of: try await call.signingKeys())
    }
    on(.get, AdminPaths.one(AdminPaths.signingKeys, "{key}")) { call throws(AdminError) in
      let all = try await call.signingKeyRecords()
      let key = try call.lookUp("signing key", call.text("key"), among: all) { $0.id.text }
      return .document(SigningKeyEntry(key, at: call.now))
    }
    on(.post, AdminPaths.rotateSigningKey) { call throws(AdminError) in
      .document(SigningKeyEntry(try await call.rotateSigningKey(), at: call.now))
    }
    on(.post, AdminPaths.act(AdminPaths.signingKeys, "{key}", "retire")) {
      call throws(AdminError) in .document(try await call.retireSigningKey())
    }
  }
}

extension AdminCall {
  /// Verifies a media token in the way a stream server does, with the currently published keys.
  fileprivate func verdict(on question: TokenQuestion) -> TokenVerdict {
    let received: ReceivedMediaToken
    do throws(MediaTokenError) {
      received = try ReceivedMediaToken(reading: question.token)
    } catch {
      return TokenVerdict(valid: false, reason: "it is not a media token")
    }
    let token = received.token
    let reason = reason(against: received, for: question)
    var verdict = TokenVerdict(valid: reason == nil, reason: reason)
    verdict.keyID = token.keyID
    verdict.requestor = token.requestor
    verdict.provider = token.provider
    verdict.resource = token.resource
    verdict.issued = token.issued
    verdict.expires = token.issued + token.lifetime
    return verdict
  }

  private func reason(against received: ReceivedMediaToken, for question: TokenQuestion) -> String? {
    let token = received.token
    guard let set = try? JWKSet(reading: core.mediaKeys.published(at: now)),
      let key = set.keys(token.keyID, .rs256).first
    else { return "no key of this service has the id that it names" }
    guard key.isValid(received.signature, for: received.signedBytes) else {
      return "its signature is wrong"
    }
    guard now < token.issued + token.lifetime else { return "its time is over" }
    guard token.issued <= now + .seconds(60) else { return "it was issued in the future" }
    if let requestor = question.requestor,
      requestor.isEmpty || !requestor.utf8.elementsEqual(token.requestor.utf8)
    {
      return "it is of another requestor"
    }
    if let resource = question.resource, !resource.utf8.elementsEqual(token.resource.utf8) {
      return "it is for another resource"
    }
    return nil
  }
}

// MARK: - Signing keys

extension AdminCall {
  fileprivate func signingKeyRecords() async throws(AdminError) -> [SigningKeyRecord] {
    try await stored { () throws(StoreError) in try await core.store.signingKeys() }
  }

  fileprivate func signingKeys() async throws(AdminError) -> [SigningKeyEntry] {
    try await signingKeyRecords().map { SigningKeyEntry($0, at: now) }
  }

  fileprivate func rotateSigningKey() async throws(AdminError) -> SigningKeyRecord {
    let asked = optionalBody
    let (purpose, word) = try shaped { () throws(JSONShapeError) in
      let purpose = try asked["purpose"].map { _ throws(JSONShapeError) in
        try SigningPurpose(member: "purpose", of: asked)
      }
      return (purpose ?? .media, try asked.optionalString("algorithm"))
    }
    guard let algorithm = SignatureAlgorithm(rawValue: word ?? "RS256"), purpose == .oauth || algorithm == .rs256 else {
      throw AdminError(.invalid, "the algorithm must be RS256, ES256 or EdDSA for OAuth, and RS256 for media tokens")
    }
    let line = entry("signing-key.rotate", purpose == .media ? "media tokens" : "OAuth \(algorithm.rawValue)")
    let keys = purpose == .media ? core.mediaKeys : core.oauth.keys
    do {
      return try await keys.rotate(algorithm, audit: line, at: now)
    } catch {
      throw (error as? StoreError).map(AdminError.init) ?? AdminError(.failed, "\(error)")
    }
  }

  /// Retires a key for signing tokens, unless it is the only one that can sign.
  fileprivate func retireSigningKey() async throws(AdminError) -> SigningKeyEntry {
    let all = try await signingKeyRecords()
    let key = try lookUp("signing key", text("key"), among: all) { $0.id.text }
    let id = key.id
    guard key.retired == nil else { return SigningKeyEntry(key, at: now) }
    let alike = all.filter { $0.purpose == key.purpose && $0.algorithm == key.algorithm }
    guard alike.contains(where: { $0.id != id && $0.retired == nil && $0.signsFrom <= now }) else {
      throw AdminError(
        .refused, "signing key \(id) is the only one that signs",
        hint: "run regentctl signing-key rotate, and retire this key when the new one signs")
    }
    let (keys, lifetime) =
      key.purpose == .media
      ? (core.mediaKeys, core.options.mediaTokenLifetime) : (core.oauth.keys, core.options.oauthTokenLifetime)
    let neededUntil: Instant
    do {
      neededUntil = try await keys.retire(
        id, tokenLifetime: lifetime, audit: entry("signing-key.retire", id.text), at: now)
    } catch {
      throw (error as? StoreError).map(AdminError.init) ?? AdminError(.failed, "\(error)")
    }
    return SigningKeyEntry(key.retired(at: now, neededUntil: neededUntil), at: now)
  }
}

extension SigningKeyEntry {
  fileprivate init(_ record: SigningKeyRecord, at now: Instant) {
    let state: State =
      record.retired != nil ? .retired : record.signsFrom <= now ? .signing : .published
    self.init(
      id: record.id, state: state, created: record.created, signsFrom: record.signsFrom,
      neededUntil: record.neededUntil)
    purpose = record.purpose == .media ? .media : .oauth
    algorithm = record.algorithm
  }
}

extension SigningKeyRecord {
  /// The signature algorithm that the public key names; nil when it names none.
  fileprivate var algorithm: String? {
    (try? JSONValue(reading: Array(publicKey.utf8)))?.object?["alg"]?.string
  }
}
