import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL
import RegentPlatform

/// A cache of verified rows that many other rows depend on: requestors, key pairs, providers, integrations, clients.
///
/// Each new code depends on three such rows, each token refresh on five. Every store operation still reads them in its
/// own transaction, so that an operator's change takes effect at once. But if a row that was read equals a verified one
/// byte for byte, its signature need not be checked, its JSON parsed or its secret decrypted again.
///
/// A cache belongs to one opened store, because another store has other keys.
final class VerifiedRowCache: Sendable {
  let requestors = VerifiedTableCache<Requestor>()
  let keyPairs = VerifiedTableCache<KeyPair>()
  let providers = VerifiedTableCache<Provider>()
  let integrations = VerifiedTableCache<Integration>(keyColumns: 2)
  /// Verified OAuth clients.
  ///
  /// The limit is lower than for other tables, because any number of programs may register themselves and each has a
  /// document of its own.
  let oauthClients = VerifiedTableCache<OAuthClientRecord>(most: 2_000)
  private let rowKeys = Locked([PublicKey: RowKey]())

  private struct RowKey {
    let signature: [UInt8]
    let key: HMACKey
  }

  /// The row key that belonged to a row pair (a requestor's key pair for rows) when it was last read.
  ///
  /// The pair may have changed since.
  func lastRowKey(of id: PublicKey) -> HMACKey? { rowKeys.withLock { $0[id]?.key } }

  /// The row key of a row pair (a requestor's key pair for rows) that was read in this transaction.
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

/// The verified rows of one table, by their keys.
final class VerifiedTableCache<Record: Sendable>: Sendable {
  /// The maximum number of cached rows.
  ///
  /// Above it the cache is emptied, and rows are verified again.
  let most: Int
  private let keyColumns: Int
  private let rows = Locked([String: CachedRow]())

  private struct CachedRow {
    let row: Stored<Record>
    /// The value of the store's change counter at which a reader found the row in the database.
    ///
    /// Nil for a row that was only written, or was read in a transaction that may have been rolled back.
    var mark: UInt64?
  }

  init(keyColumns: Int = 1, most: Int = 10_000) {
    self.keyColumns = keyColumns
    self.most = most
  }

  /// Returns the cached record, if the row that was just read equals the cached row byte for byte.
  func find(_ row: borrowing Row) throws(DatabaseError) -> Stored<Record>? {
    // A line feed separates the names. Names contain none, so different pairs of names have different keys.
    let id = keyColumns == 1 ? try row.text(0) : "\(try row.text(0))\n\(try row.text(1))"
    guard let known = rows.withLock({ $0[id]?.row }) else { return nil }
    for (place, value) in known.values.enumerated() {
      guard try row.holds(value, at: place) else { return nil }
    }
    return try row.holds(.blob(known.signature), at: known.values.count) ? known : nil
  }

  func keep(_ row: Stored<Record>) {
    let names = row.values.prefix(keyColumns).compactMap { if case .text(let name) = $0 { name } else { nil } }
    guard names.count == keyColumns else { return }
    let id = names.joined(separator: "\n")
    rows.withLock { rows in
      if rows.count >= most { rows.removeAll() }
      rows[id] = CachedRow(row: row)
    }
  }

  /// Returns the cached row if a reader found it in the database when the change counter had the value `mark`.
  ///
  /// While the counter keeps this value, the row in the database is unchanged.
  func find(_ id: String, asOf mark: UInt64) -> Stored<Record>? {
    guard let known = rows.withLock({ $0[id] }), known.mark == mark else { return nil }
    return known.row
  }

  /// Remembers that a reader has found the row in the database.
  ///
  /// `mark` is the change counter's value before that read.
  func note(_ row: Stored<Record>, for id: String, asOf mark: UInt64) {
    rows.withLock { rows in
      // Another store operation may have cached another version of the row meanwhile.
      guard var known = rows[id], known.row.signature == row.signature else { return }
      known.mark = max(known.mark ?? mark, mark)
      rows[id] = known
    }
  }
}
