import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import SQLite
import TestSupport
import Testing

/// Changes to the schema by an attacker who can write the file but has no key.
private let plants: [String] = [
  // Silently prevents `device sign-out`.
  "CREATE TRIGGER planted BEFORE DELETE ON authentication BEGIN SELECT RAISE(IGNORE); END",
  "CREATE TRIGGER sqlite_stat2 BEFORE DELETE ON authentication BEGIN SELECT RAISE(IGNORE); END",
  "CREATE VIEW planted AS SELECT * FROM authentication",
  "CREATE TABLE planted (id TEXT)",
  "CREATE UNIQUE INDEX planted ON session (provider)",
  "DROP INDEX authentication_device",
  // Silently drops a line of the audit log.
  "UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY', 'PRIMARY KEY ON CONFLICT IGNORE') WHERE name = 'audit'",
  "UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '') WHERE name = 'session'",
]

@Suite struct `A database whose schema an attacker changed` {
  @Test(arguments: plants)
  func `a changed schema is refused when the file is opened`(plant: String) async throws {
    try await withStoreFile { file in
      try await file.with { _ = try await FullHouse($0) }
      try file.changeFromOutside("PRAGMA writable_schema = ON; \(plant);")
      let error = #expect(throws: OpenFailure.self) { try file.open() }
      guard case .foreignSchema? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try #require(error).hint.contains("restore the last backup"))
    }
  }

  @Test func `a trigger that is added while the file is open is reported and does not run`() async throws {
    try await withStoreFile { file in
      try await file.with { store async throws in
        let house = try await FullHouse(store)
        #expect(try await store.integrityProblems() == [])
        try file.changeFromOutside(plants[0])
        _ = try await store.signOut(
          requestor: house.stage.requestor, device: house.authentication.deviceHash, at: house.stage.at(4))
        #expect(try await house.stage.pickUp(second: 5).signIn == nil)
        #expect(try await store.integrityProblems() == ["the trigger “planted” was added"])
      }
    }
  }

  @Test func `the statistics tables that SQLite adds by itself are accepted`() async throws {
    try await withStoreFile { file in
      try await file.with { _ = try await FullHouse($0) }
      try file.changeFromOutside("ANALYZE")
      try await file.with { store async throws in #expect(try await store.integrityProblems() == []) }
    }
  }
}
