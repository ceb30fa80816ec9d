public import RegentPairing

public protocol KeyStore: Sendable {
  /// The random key for a purpose.
  ///
  /// It is generated at the first call, stored encrypted, and the same in every process from then on.
  func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret

  /// Stores a new key pair of a requestor.
  ///
  /// A new `rows` pair becomes the requestor's row key; earlier ones are retired.
  ///
  /// - Throws: `notFound` when there is no such requestor, `changedMeanwhile` when the id is in use.
  func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)

  /// Retires or revokes a key pair.
  ///
  /// Neither can be undone. Revoking a `rows` pair invalidates every row that it signed.
  ///
  /// - Throws: `notFound`; `changedMeanwhile` when a revoked pair is to be retired.
  func setState(
    of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// Stores a new key for signing tokens.
  ///
  /// Earlier keys sign until the new one's start (``SigningKeyRecord/signsFrom``).
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
