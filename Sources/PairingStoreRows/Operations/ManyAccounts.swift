public import PairingStore
public import RegentPairing
import RegentSQL

extension RowStore {
  public func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange] {
    try await write(mayUseReserve: true) { context, rows in
      var changes: [RegistrationChange] = []
      for write in writes {
        let (account, seen) = (write.account, write.seen.map(Provision.account))
        changes += try rows.replace(context, seen, with: .account(account), audit: write.entry, at: now)
        guard let phc = write.firstPassword,
          try rows.password(context, of: account.name, at: account.provider) == nil
        else { continue }
        try rows.keep(
          context, Tables.passwords, PasswordRecord(provider: account.provider, name: account.name, phc: phc))
      }
      return changes
    }
  }
}
