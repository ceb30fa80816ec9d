import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL
import RegentPlatform

/// Rows of what many others stand on (requestors, key pairs, providers, integrations, clients) that verified before.
///
/// Each new code stands on three of them, each refresh on five, and each verb reads them in its own transaction, so
/// that what an operator changes counts at once. A row that is byte for byte one that verified verifies again: only
/// then its signature, its JSON and its sealed secret are not gone through anew. A row that was changed is another
/// row.
///
/// Belongs to one opened store: another one has other keys, for which nothing was verified here.
final class VerifiedRowCache: Sendable {
  let requestors = VerifiedTableCache<Requestor>()
  let keyPairs = VerifiedTableCache<KeyPair>()
  let providers = VerifiedTableCache<Provider>()
  let integrations = VerifiedTableCache<Integration>(keyColumns: 2)
  /// A crowd may register itself, each with a document of its own.
  let oauthClients = VerifiedTableCache<OAuthClientRecord>(most: 2_000)
  private let rowKeys = Locked([PublicKey: RowKey]())

  private struct RowKey {
    let signature: [UInt8]
    let key: HMACKey
  }

  /// The key for rows of a row pair, as it was when somebody last looked.
  func lastRowKey(of id: PublicKey) -> HMACKey? { rowKeys.withLock { $0[id]?.key } }

  /// The key for rows of a row pair that was read in this transaction.
  func rowKey(of pair: Stored<KeyPair>, _ vault: Vault) -> HMACKey? {
    let id = pair.record.publicKey
    let known = rowKeys.withLock { $0[id] }
    if let known, known.signature == pair.signature { return known.key }
    guard let key = vault.rowKey(of: pair.record) else { return nil }
    rowKeys.withLock { keys in
      if keys.count >= keyPairs.most { keys.removeAll() }
      keys[id] = RowKey(signature: pair.signature, key: key)
    }
    return key
  }
}

/// The rows of one table that verified before, by their keys.
final class VerifiedTableCache<Record: Sendable>: Sendable {
  /// Beyond so many all are forgotten and verified again.
  let most: Int
  private let keyColumns: Int
  private let rows = Locked([String: CachedRow]())

  private struct CachedRow {
    let row: Stored<Record>
    /// The mark at which a reader found the row in the database; none for one that was only written, or seen within a
    /// transaction that may not have been committed.
    var mark: UInt64?
  }

  init(keyColumns: Int = 1, most: Int = 10_000) {
    self.keyColumns = keyColumns
    self.most = most
  }

  /// The row, if exactly this one, byte for byte, verified before.
  func find(_ row: borrowing Row) throws(DatabaseError) -> Stored<Record>? {
    // No name has a line end: two names cannot be read as two others.
    let id = keyColumns == 1 ? try row.text(0) : "\(try row.text(0))\n\(try row.text(1))"
    guard let known = rows.withLock({ $0[id]?.row }) else { return nil }
    for (place, value) in known.values.enumerated() {
      guard try row.holds(value, at: place) else { return nil }
    }
    return try row.holds(.blob(known.signature), at: known.values.count) ? known : nil
  }

  /// Remembers a row that has verified.
  func keep(_ row: Stored<Record>) {
    let names = row.values.prefix(keyColumns).compactMap { if case .text(let name) = $0 { name } else { nil } }
    guard names.count == keyColumns else { return }
    let id = names.joined(separator: "\n")
    rows.withLock { rows in
      if rows.count >= most { rows.removeAll() }
      rows[id] = CachedRow(row: row)
    }
  }

  /// The row that a reader found at this mark, which has not moved since: it is there still.
  func find(_ id: String, asOf mark: UInt64) -> Stored<Record>? {
    guard let known = rows.withLock({ $0[id] }), known.mark == mark else { return nil }
    return known.row
  }

  /// Remembers that a reader, which took the mark before, has found the row.
  func note(_ row: Stored<Record>, for id: String, asOf mark: UInt64) {
    rows.withLock { rows in
      // Somebody may have kept another version of it meanwhile.
      guard var known = rows[id], known.row.signature == row.signature else { return }
      known.mark = max(known.mark ?? mark, mark)
      rows[id] = known
    }
  }
}
