import PairingStore
@testable import PairingStoreSQLite
import RegentPairing
import SQLite
@testable import StoreConformance
import TestSupport
import Testing

@Suite struct `A token refresh that shares a transaction with other writes` {
  /// The store's cached mark advances only after the transaction.
  ///
  /// Within it, the refresh must still see that the account was deleted.
  @Test func `a refresh is refused when an earlier write of the same transaction deleted its account`() async throws {
    try await withStoreFile { file in
      try await file.with { store in
        let stage = try await ConformanceFixture(store)
        let (client, signIn) = try await stage.readyToGive()
        let first = try await store.keep(stage.grant(1, client, signIn), at: stage.at(3))
        // Whether the delete and the refresh share a transaction depends on the scheduler; usually they do. The
        // answer is the same in both cases.
        let name = try #require(stage.ann.account).text
        for _ in 0..<10 {
          let standing = try #require(try await store.grant(first.id, at: stage.at(4)))
          var next = standing.grant
          next.generation += 1
          let (inside, opened) = (Flag("the writer stands still"), Flag("the writer goes on"))
          store.database.writeLater { _ in
            inside.raise()
            _ = try? opened.block()
          }
          try await inside.wait()
          store.database.writeLater { _ = try $0.run("DELETE FROM account WHERE name = \(name)") }
          async let refreshed: Void = expect(.notInForce(.accountGone)) { [next] in
            try await store.rotate(next, seen: standing.version, at: stage.at(4))
          }
          try await pass(milliseconds: 5)
          opened.raise()
          try await refreshed
          try await stage.put(.account(try stage.account(stage.ann)))
        }
      }
    }
  }
}
