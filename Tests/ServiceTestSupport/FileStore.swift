package import PairingStoreSQLite
import RegentCryptography
import RegentPairing
package import StorageFaults
import TestSupport

/// Runs `body` with a SQLite store on real files, as a service has it; only writes to the disk are not waited for.
package func withFileStore<Value>(
  on disk: FaultyDisk = FaultyDisk(), _ body: (SQLiteStore) async throws -> Value
) async throws -> Value {
  try await withTemporaryFolder { folder in
    var options = SQLiteStoreOptions(
      path: "\(folder)/regent.db", masterKey: Random.secret(), wallClock: { Instant(milliseconds: 0) })
    options.fileLayer = disk.name
    let store = try SQLiteStore(options)
    defer { store.close() }
    return try await body(store)
  }
}
