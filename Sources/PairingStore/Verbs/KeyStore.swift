public import RegentPairing

public protocol KeyStore: Sendable {
  /// Returns the service's random key for a purpose.
  ///
  /// The key is generated at the first call, stored encrypted, and the same in every process from then on.
  func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret

  /// Stores a new key pair of a requestor.
  ///
  /// A new pair for signing rows (`rows`) is used for the requestor's new rows; earlier such pairs are retired.
  ///
  /// - Throws: `notFound` when there is no such requestor, `changedMeanwhile` when the id is in use.
  func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)

  /// Retires or revokes a key pair; neither can be undone.
  ///
  /// Revoking a `rows` pair, which signs database rows, invalidates every row that it signed.
  ///
  /// - Throws: `notFound`; `changedMeanwhile` when a revoked pair is to be retired.
  func setState(
    of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// Stores a new key for signing tokens.
  ///
  /// Until it starts to sign (``SigningKeyRecord/signsFrom``), the earlier keys sign.
  func add(_ key: SigningKeyRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// Retires a key for signing tokens: it signs no more, and stays published until `neededUntil`.
  ///
  /// - Throws: `notFound`.
  func retireSigningKey(
    _ id: SigningKeyID, neededUntil: Instant, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// All keys for signing tokens, oldest first.
  func signingKeys() async throws(StoreError) -> [SigningKeyRecord]
}
