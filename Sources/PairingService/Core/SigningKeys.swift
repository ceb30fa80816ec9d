package import RegentCryptography
internal import RegentJSON
package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// The keys that sign one kind of tokens, and the published set of their public keys.
///
/// A new key is published before it signs, and an old one stays published until its last token has expired. A stream
/// server that caches the set therefore has the key of every valid token.
package final class SigningKeys: Sendable {
  private struct Ready {
    let record: SigningKeyRecord
    let key: SigningKey
  }

  private let store: any KeyStore
  private let purpose: SigningKeyRecord.Purpose
  private let lead: Duration
  private let keys: Locked<[Ready]>

  package init(_ store: some KeyStore, for purpose: SigningKeyRecord.Purpose, lead: Duration) async throws {
    self.store = store
    self.purpose = purpose
    self.lead = lead
    keys = Locked([])
    try await refresh()
  }

  /// Creates the first key of a signature algorithm, unless a key of it exists.
  ///
  /// The key signs at once, because no key of this algorithm was in a set that a verifier may have cached.
  package func ensure(_ algorithm: SignatureAlgorithm, at now: Instant) async throws {
    guard current(algorithm, at: now) == nil else { return }
    try await store.add(try make(algorithm, at: now, signsFrom: now), audit: nil, at: now)
    try await refresh()
  }

  /// Reads the keys for signing tokens from the store again.
  ///
  /// Call it after every change.
  package func refresh() async throws {
    let records = try await store.signingKeys().filter { $0.purpose == purpose }
    let ready = try records.map {
      Ready(record: $0, key: try SigningKey(pkcs8: Secret($0.privateKey)))
    }
    keys.withLock { $0 = ready }
  }

  /// Creates a new key for signing tokens.
  ///
  /// The key signs as soon as all cached key sets contain it.
  package func rotate(
    _ algorithm: SignatureAlgorithm = .rs256, audit entry: AuditEntry?, at now: Instant
  ) async throws -> SigningKeyRecord {
    let record = try make(algorithm, at: now, signsFrom: now + lead)
    try await store.add(record, audit: entry, at: now)
    try await refresh()
    return record
  }

  /// Retires the keys whose successors already sign.
  ///
  /// The retired keys stay published until all cached sets and the last token have expired.
  package func retireReplaced(tokenLifetime: Duration, at now: Instant) async throws {
    let replaced = SignatureAlgorithm.allCases.flatMap { algorithm -> [SigningKeyRecord] in
      guard let current = current(algorithm, at: now)?.id else { return [] }
      return keys.withLock { keys in
        let own = keys.filter { $0.key.algorithm == algorithm }.map(\.record)
        guard let successor = own.first(where: { $0.id == current }) else { return [] }
        return own.filter { $0.retired == nil && $0.id != current && $0.signsFrom < successor.signsFrom }
      }
    }
    for key in replaced { _ = try await retire(key.id, tokenLifetime: tokenLifetime, audit: nil, at: now) }
  }

  /// Retires a key for signing tokens.
  ///
  /// - Returns: until when the key stays published.
  package func retire(
    _ id: SigningKeyID, tokenLifetime: Duration, audit entry: AuditEntry?, at now: Instant
  ) async throws -> Instant {
    let neededUntil = now + tokenLifetime + lead
    try await store.retireSigningKey(id, neededUntil: neededUntil, audit: entry, at: now)
    try await refresh()
    return neededUntil
  }

  /// The key that signs tokens at this time: the newest one whose `signsFrom` has passed.
  package func current(
    _ algorithm: SignatureAlgorithm = .rs256, at now: Instant
  ) -> (id: SigningKeyID, key: SigningKey)? {
    keys.withLock { keys in
      let usable = keys.filter { $0.record.retired == nil && $0.key.algorithm == algorithm }
      let due = usable.filter { $0.record.signsFrom <= now }
      // After the wall clock was set back, `signsFrom` of all keys may lie in the future. The oldest key is then used,
      // because most cached key sets contain it.
      let chosen =
        due.max { $0.record.signsFrom < $1.record.signsFrom }
        ?? usable.min { $0.record.signsFrom < $1.record.signsFrom }
      return chosen.map { ($0.record.id, $0.key) }
    }
  }

  /// For each signature algorithm, the newest key, which signs now or will sign after all others.
  package var newest: [(algorithm: SignatureAlgorithm, record: SigningKeyRecord)] {
    keys.withLock { keys in
      SignatureAlgorithm.allCases.compactMap { algorithm in
        keys.filter { $0.record.retired == nil && $0.key.algorithm == algorithm }
          .max { $0.record.signsFrom < $1.record.signsFrom }.map { (algorithm, $0.record) }
      }
    }
  }

  /// The public key with this id, whether it is retired or not; nil when the store has no such key.
  package func publicKey(_ id: String) -> VerifyingKey? {
    keys.withLock { keys in
      keys.first { $0.record.id.text.utf8.elementsEqual(id.utf8) }?.key.publicKey
    }
  }

  /// The public keys that verifiers may still need, as a JSON Web Key set.
  package func published(at now: Instant) -> [UInt8] {
    let texts = keys.withLock { keys in
      keys.filter { $0.record.neededUntil.map { now < $0 } ?? true }.map(\.record.publicKey)
    }
    return Array("{\"keys\":[\(texts.joined(separator: ","))]}".utf8)
  }

  private func make(_ algorithm: SignatureAlgorithm, at now: Instant, signsFrom: Instant) throws -> SigningKeyRecord {
    var key = try SigningKey.generate(algorithm, rsaBits: 2048)
    // The key's id is made from its thumbprint. One thumbprint in 64 begins with a dash, which a command line would
    // take for an option.
    while key.publicKey.thumbprint.hasPrefix("-") { key = try SigningKey.generate(algorithm, rsaBits: 2048) }
    guard let id = SigningKeyID(key.publicKey.thumbprint) else { throw KeyError.inconsistent }
    let published = JWK(key.publicKey, keyID: id.text)
    let text = String(decoding: published.json.bytes(), as: UTF8.self)
    return SigningKeyRecord(
      id: id, purpose: purpose, privateKey: StoredSecret(try key.pkcs8().exposedBytes()), publicKey: text,
      created: now, signsFrom: signsFrom)
  }
}
