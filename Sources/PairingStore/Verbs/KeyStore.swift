public import RegentPairing

/// Keys.
public protocol KeyStore: Sendable {
  /// Random bytes for one purpose: made at the first call, kept sealed, the same ever after and in every process.
  func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret

  /// Keeps a new key pair of a requestor. A new `rows` pair takes over signing; the earlier ones are retired with it.
  ///
  /// - Throws: `notFound` when there is no such requestor, `changedMeanwhile` when the id is in use.
  func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)

  /// Retires or revokes a key pair; neither is ever undone. Revoking a `rows` pair ends all that it signed.
  ///
  /// - Throws: `notFound`, `changedMeanwhile` for a revoked pair that is to be retired.
  func setState(
    of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// Keeps a new key for signing media tokens. The ones before it sign until it does.
  func add(_ key: SigningKeyRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// Ends a signing key: it signs no more, and stays published until `neededUntil`.
  ///
  /// - Throws: `notFound`.
  func retireSigningKey(
    _ id: SigningKeyID, neededUntil: Instant, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// All signing keys, oldest first.
  func signingKeys() async throws(StoreError) -> [SigningKeyRecord]
}
