import PairingStore
import RegentCryptography
import RegentPlatform
import SQLite

/// The vault for migrations that sign rows, opened inside the first of them that has any.
///
/// A wrong master key ends the opening of the file there, with the step undone.
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
