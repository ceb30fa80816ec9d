import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL
import RegentPlatform

/// Rows of requestors and key pairs that verified before.
///
/// Each new code stands on three of them, and each verb reads them in its own transaction, so that what an operator
/// changes counts at once. A row that is byte for byte one that verified verifies again: only then its signature, its
/// JSON and its sealed secret are not gone through anew. A row that was changed is another row.
///
/// Belongs to one opened store: another one has other keys, for which nothing was verified here.
final class VerifiedRowCache: Sendable {
  let requestors = VerifiedTableCache<Requestor>()
  let keyPairs = VerifiedTableCache<KeyPair>()
  private let rowKeys = Locked([PublicKey: RowKey]())

  private struct RowKey {
    let signature: [UInt8]
    let key: HMACKey
  }

  /// The key for rows of a row pair that was read in this transaction.
  func rowKey(of pair: Stored<KeyPair>, _ vault: Vault) -> HMACKey? {
    let id = pair.record.publicKey
    let known = rowKeys.withLock { $0[id] }
    if let known, known.signature == pair.signature { return known.key }
    guard let key = vault.rowKey(of: pair.record) else { return nil }
    rowKeys.withLock { keys in
      if keys.count >= VerifiedTableCache<KeyPair>.most { keys.removeAll() }
      keys[id] = RowKey(signature: pair.signature, key: key)
    }
    return key
  }
}

/// The rows of one table that verified before, by the first column.
final class VerifiedTableCache<Record: Sendable>: Sendable {
  /// Beyond so many all are forgotten and verified again.
  static var most: Int { 10_000 }
  private let rows = Locked([String: Stored<Record>]())

  /// The row, if exactly this one, byte for byte, verified before.
  func find(_ row: borrowing Row) throws(DatabaseError) -> Stored<Record>? {
    let id = try row.text(0)
    guard let known = rows.withLock({ $0[id] }) else { return nil }
    for (place, value) in known.values.enumerated() {
      guard try row.holds(value, at: place) else { return nil }
    }
    return try row.holds(.blob(known.signature), at: known.values.count) ? known : nil
  }

  /// Remembers a row that has verified.
  func keep(_ id: String, _ row: Stored<Record>) {
    rows.withLock { rows in
      if rows.count >= Self.most { rows.removeAll() }
      rows[id] = row
    }
  }
}
