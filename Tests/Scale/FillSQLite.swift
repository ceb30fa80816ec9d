internal import PairingStore
internal import PairingStoreSQLite

extension SQLiteStore: FillableStore {
  func fill(_ codes: [RegistrationRecord], _ signIns: [AuthenticationRecord]) async throws {
    try await write { context, rows in
      for code in codes { try rows.insert(context, Tables.registrations, code) }
      for signIn in signIns { try rows.insert(context, Tables.authentications, signIn) }
    }
  }
}
