import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import SQLite
import TestSupport
import Testing

@Suite struct `The limit on guest sessions` {
  @Test func `a provider keeps the ten thousand newest guest sessions, whatever addresses they come from`() async throws
  {
    try await withStoreFile { file in
      try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        let guest = Viewer(provider: stage.promotion, account: nil)
        @Sendable func session(_ number: Int) throws -> SessionRecord {
          SessionRecord(
            id: try ConformanceFixture.name("guest-\(number)"), token: try stage.hash(3000 + number), viewer: guest,
            started: stage.at(1), lastUsed: stage.at(1) + .milliseconds(number), address: "192.0.2.\(number)")
        }
        // A flood of guest sessions, each from its own address, written in one transaction to save time.
        try await store.database.write { context in
          let rows = SignedRows(store.vault, VerifiedRowCache())
          for number in 0..<SessionRecord.mostOfGuests { try rows.insert(context, Tables.sessions, session(number)) }
        }
        for number in SessionRecord.mostOfGuests..<SessionRecord.mostOfGuests + 3 {
          _ = try await store.startSession(try session(number), replacing: nil, proved: nil, at: stage.at(20))
        }
        let (count, oldest) = try await store.database.read { context in
          (
            try context.value("SELECT count(*) FROM session", as: Int.self),
            try context.exists("SELECT 1 FROM session WHERE id IN ('guest-0', 'guest-1', 'guest-2')")
          )
        }
        #expect(count == SessionRecord.mostOfGuests && !oldest)
        // The newest guest sessions remain, and the sessions of accounts are not affected.
        for number in [3, SessionRecord.mostOfGuests + 2] {
          #expect(try await store.session(stage.hash(3000 + number), at: stage.at(21)) != nil, "\(number)")
        }
        let ann = try await stage.session(1, as: stage.ann)
        _ = try await store.startSession(try session(20_000), replacing: nil, proved: nil, at: stage.at(20))
        #expect(try await store.sessions(of: stage.ann, at: stage.at(21)).map(\.id) == [ann])
      }
    }
  }
}
