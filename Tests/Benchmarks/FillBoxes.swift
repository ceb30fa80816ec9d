internal import PairingStore
internal import PairingStoreSQLite
internal import RegentCryptography
internal import RegentEncodings
internal import RegentPairing
internal import RegentPlatform
internal import SQLite
internal import TestSupport

/// `fill-boxes STATE REQUESTOR PROVIDER COUNT` adds signed-in boxes to the database of a stopped service.
///
/// They belong to the accounts `viewer0` to `viewer999` in turn and were signed in a minute apart, the last one now.
func fillBoxes(_ arguments: [String]) -> Int32 {
  guard arguments.count == 4, let count = Int(arguments[3]) else {
    note("usage: Benchmarks fill-boxes STATE REQUESTOR PROVIDER COUNT\n")
    return 2
  }
  runUntilExit { try await fill(arguments[0], arguments[1], arguments[2], count) }
}

private func fill(_ folder: String, _ requestor: String, _ provider: String, _ count: Int) async throws {
  let digits = String(decoding: try readFile("\(folder)/master-key"), as: UTF8.self).prefix(64)
  let store = try SQLiteStore(
    SQLiteStoreOptions(
      path: "\(folder)/regent.db", masterKey: Secret(wiping: try Hex.decodeEitherCase(String(digits))),
      wallClock: { Instant(milliseconds: 0) }))
  defer { store.close() }
  guard let owner = RequestorID(requestor), let place = ProviderID(provider),
    let key = try await store.provisioning().rowKey(of: owner)
  else { throw TestSupportError("\(requestor) has no row key") }
  let now = Instant(milliseconds: Clocks.wallMilliseconds())
  for start in stride(from: 0, to: count, by: 10_000) {
    let end = min(start + 10_000, count)
    try await store.signIn(end - start) { number in
      let box = start + number
      guard let id = AuthenticationID(Random.uuid()), let account = AccountName("viewer\(box % 1000)"),
        let device = DeviceID("box-\(box)"), let hash = DeviceHash(Random.bytes(32))
      else { throw TestSupportError("no names") }
      return AuthenticationRecord(
        authentication: Authentication(
          id: id, requestor: owner, viewer: Viewer(provider: place, account: account), household: nil, profile: nil,
          source: .regular, issued: now - .seconds(60 * (count - box)), expires: now + .seconds(365 * 86_400)),
        device: device, deviceHash: hash, rowKey: key.publicKey)
    }
  }
}

extension SQLiteStore {
  /// Inserts sign-ins in one transaction, with row signatures as the service makes them.
  fileprivate func signIn(
    _ count: Int, _ record: @escaping @Sendable (Int) throws -> AuthenticationRecord
  ) async throws(StoreError) {
    try await write { context, rows in
      for number in 0..<count { try rows.insert(context, Tables.authentications, record(number)) }
    }
  }
}
