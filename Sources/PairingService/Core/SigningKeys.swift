package import RegentCryptography
internal import RegentJSON
package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// The keys that sign the tokens of one purpose, ready to use, and the published set of their public halves.
///
/// A new key is published before it signs, and an old one stays published until its last token has died: a stream
/// server that caches the set never meets a token whose key it cannot have.
package final class SigningKeys: Sendable {
  /// A key with the record it comes from.
  private struct Ready {
    let record: SigningKeyRecord
    let key: SigningKey
  }

  private let store: any KeyStore
  private let purpose: SigningKeyRecord.Purpose
  private let lead: Duration
  private let keys: Locked<[Ready]>

  /// Reads the keys.
  package init(_ store: some KeyStore, for purpose: SigningKeyRecord.Purpose, lead: Duration) async throws {
    self.store = store
    self.purpose = purpose
    self.lead = lead
    keys = Locked([])
    try await refresh()
  }

  /// Makes the first key of an algorithm, unless there is one.
  ///
  /// No token of it was ever made, so nobody misses it in the set that he has cached: it signs at once.
  package func ensure(_ algorithm: SignatureAlgorithm, at now: Instant) async throws {
    guard current(algorithm, at: now) == nil else { return }
    try await store.add(try make(algorithm, at: now, signsFrom: now), audit: nil, at: now)
    try await refresh()
  }

  /// Reads the keys again: after every change.
  package func refresh() async throws {
    let records = try await store.signingKeys().filter { $0.purpose == purpose }
    let ready = try records.map {
      Ready(record: $0, key: try SigningKey(pkcs8: Secret($0.privateKey)))
    }
    keys.withLock { $0 = ready }
  }

  /// Makes a new key, which takes over as soon as every cache knows it.
  package func rotate(
    _ algorithm: SignatureAlgorithm = .rs256, audit entry: AuditEntry?, at now: Instant
  ) async throws -> SigningKeyRecord {
    let record = try make(algorithm, at: now, signsFrom: now + lead)
    try await store.add(record, audit: entry, at: now)
    try await refresh()
    return record
  }

  /// Ends keys whose successor signs; they stay published until every cache and the last token have died.
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

  /// Ends a key.
  ///
  /// - Returns: until when it is published still.
  package func retire(
    _ id: SigningKeyID, tokenLifetime: Duration, audit entry: AuditEntry?, at now: Instant
  ) async throws -> Instant {
    let neededUntil = now + tokenLifetime + lead
    try await store.retireSigningKey(id, neededUntil: neededUntil, audit: entry, at: now)
    try await refresh()
    return neededUntil
  }

  /// The key that signs at this time: the newest of those whose turn has come.
  package func current(
    _ algorithm: SignatureAlgorithm = .rs256, at now: Instant
  ) -> (id: SigningKeyID, key: SigningKey)? {
    keys.withLock { keys in
      let usable = keys.filter { $0.record.retired == nil && $0.key.algorithm == algorithm }
      let due = usable.filter { $0.record.signsFrom <= now }
      // A clock that was set back leaves no key whose turn has come: the oldest is known to everybody.
      let chosen =
        due.max { $0.record.signsFrom < $1.record.signsFrom }
        ?? usable.min { $0.record.signsFrom < $1.record.signsFrom }
      return chosen.map { ($0.record.id, $0.key) }
    }
  }

  /// Of each algorithm the key that signs last: its successor is not made yet.
  package var newest: [(algorithm: SignatureAlgorithm, record: SigningKeyRecord)] {
    keys.withLock { keys in
      SignatureAlgorithm.allCases.compactMap { algorithm in
        keys.filter { $0.record.retired == nil && $0.key.algorithm == algorithm }
          .max { $0.record.signsFrom < $1.record.signsFrom }.map { (algorithm, $0.record) }
      }
    }
  }

  /// The public half of a key that the store still has, retired or not.
  package func publicKey(_ id: String) -> VerifyingKey? {
    keys.withLock { keys in
      keys.first { $0.record.id.text.utf8.elementsEqual(id.utf8) }?.key.publicKey
    }
  }

  /// The public halves of all keys that somebody may still need, as a JSON Web Key set.
  package func published(at now: Instant) -> [UInt8] {
    let texts = keys.withLock { keys in
      keys.filter { $0.record.neededUntil.map { now < $0 } ?? true }.map(\.record.publicKey)
    }
    return Array("{\"keys\":[\(texts.joined(separator: ","))]}".utf8)
  }

  private func make(_ algorithm: SignatureAlgorithm, at now: Instant, signsFrom: Instant) throws -> SigningKeyRecord {
    var key = try SigningKey.generate(algorithm, rsaBits: 2048)
    // One id in 64 begins with a dash, and a command would take it for an option.
    while key.publicKey.thumbprint.hasPrefix("-") { key = try SigningKey.generate(algorithm, rsaBits: 2048) }
    guard let id = SigningKeyID(key.publicKey.thumbprint) else { throw KeyError.inconsistent }
    let published = JWK(key.publicKey, keyID: id.text)
    let text = String(decoding: published.json.bytes(), as: UTF8.self)
    return SigningKeyRecord(
      id: id, purpose: purpose, privateKey: StoredSecret(try key.pkcs8().exposedBytes()), publicKey: text,
      created: now, signsFrom: signsFrom)
  }
}
