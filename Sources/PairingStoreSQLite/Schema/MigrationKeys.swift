import PairingStore
import RegentCryptography
import RegentPlatform
import SQLite

/// Opens the data keys for migrations that sign rows, when the first of them needs the keys.
///
/// With a wrong master key, opening the file fails there, and the migration is rolled back.
final class MigrationKeys: Sendable {
  private let master: SealingKey
  private let opened = Locked<Vault?>(nil)

  init(_ master: SealingKey) { self.master = master }

  func vault(in context: borrowing WriteContext) throws -> Vault {
    if let vault = opened.withLock({ $0 }) { return vault }
    let vault = try DataKeys.open(in: context, with: master)
    opened.withLock { $0 = vault }
    return vault
  }
}
