public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  /// Returns the random key for a purpose.
  ///
  /// It was generated or decrypted when the store was opened.
  public func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret {
    guard let material = vault.material[purpose] else {
      throw .unavailable(reason: "no key material for \(purpose.rawValue)")
    }
    return material
  }

  public func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.requestor(context, pair.requestor) != nil else {
        throw StoreError.notFound(what: "requestor")
      }
      if let there = try rows.pair(context, pair.publicKey)?.record {
        guard there == pair else { throw StoreError.changedMeanwhile(what: "key pair") }
        return
      }
      if pair.purpose == .rows {
        let earlier = try rows.all(
          context, Tables.keyPairs,
          """
          \(all: Tables.keyPairs) WHERE requestor = \(pair.requestor.text)
          AND purpose = 'rows' AND state = 'active'
          """)
        for one in earlier { try rows.setState(context, one, to: .retired) }
      }
      try rows.insert(context, Tables.keyPairs, pair)
      context.changed(.provisioning)
      try rows.note(context, entry)
    }
  }

  public func setState(
    of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, rows in
      guard let stored = try rows.pair(context, publicKey) else {
        throw StoreError.notFound(what: "key pair")
      }
      guard stored.record.state.mayBecome(state) else {
        throw StoreError.changedMeanwhile(what: "key pair")
      }
      try rows.setState(context, stored, to: state)
      context.changed(.provisioning)
      try rows.note(context, entry)
      guard stored.record.purpose == .rows, state == .revoked else { return }
      let key = publicKey.text
      try context.run("DELETE FROM registration WHERE public_key = \(key)")
      try SignedRows.deleteSignIns(context, .rowKey(key))
    }
  }

  public func add(_ key: SigningKeyRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await write(mayUseReserve: true) { context, rows in
      if let there = try rows.signingKey(context, key.id)?.record {
        guard there == key else { throw StoreError.changedMeanwhile(what: "signing key") }
        return
      }
      try rows.insert(context, Tables.signingKeys, key)
      context.changed(.signingKeys)
      try rows.note(context, entry)
    }
  }

  public func retireSigningKey(
    _ id: SigningKeyID, neededUntil: Instant, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, rows in
      guard let stored = try rows.signingKey(context, id) else {
        throw StoreError.notFound(what: "signing key")
      }
      // The key was retired before. The earlier `neededUntil` stays, so that a repeated call cannot unpublish the key
      // too early.
      guard stored.record.retired == nil else { return }
      try rows.update(
        context, Tables.signingKeys, stored,
        [
          (name: "retired", value: .integer(now.milliseconds)),
          (name: "needed_until", value: .integer(neededUntil.milliseconds)),
        ])
      context.changed(.signingKeys)
      try rows.note(context, entry)
    }
  }

  public func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
    try await read { context, rows in
      try rows.all(
        context, Tables.signingKeys, "\(all: Tables.signingKeys) ORDER BY created, id"
      ).map(\.record)
    }
  }
}

extension SignedRows {
  fileprivate func signingKey(
    _ context: borrowing WriteContext, _ id: SigningKeyID
  ) throws -> Stored<SigningKeyRecord>? {
    try one(context, Tables.signingKeys, Tables.signingKeys.row(id.text))
  }

  fileprivate func setState(
    _ context: borrowing WriteContext, _ stored: Stored<KeyPair>, to state: KeyPair.State
  ) throws {
    guard stored.record.state != state else { return }
    try update(
      context, Tables.keyPairs, stored, [(name: "state", value: .text(state.rawValue))])
  }
}
