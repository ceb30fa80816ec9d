import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import TestSupport
import Testing

/// SQLite trusts the write-ahead log that lies beside a database and cannot tell which program wrote it.
@Suite struct `A foreign write-ahead log beside the database` {
  @Test func `a write-ahead log of another database is refused at opening and changes nothing`() async throws {
    try await withTemporaryFolder { folder in
      let file = StoreFile(path: "\(folder)/regent.db")
      let wanted = try await file.with { store async throws in
        _ = try await FullHouse(store)
        return try await Picture(of: store)
      }
      let before = try readFile(file.path)
      let other = StoreFile(path: "\(folder)/other/regent.db")
      try await other.with { store async throws in _ = try await FullHouse(store) }
      // VACUUM writes every page into the log, also those that a checkpoint had already copied back.
      let script = """
        import os, shutil, sqlite3, sys
        other = sqlite3.connect(sys.argv[1])
        other.execute("PRAGMA wal_autocheckpoint = 0")
        other.execute("VACUUM")
        shutil.copy(sys.argv[1] + "-wal", sys.argv[2])
        os.chmod(sys.argv[2], 0o600)
        """
      #expect(try run("python3", ["-c", script, other.path, "\(file.path)-wal"]).status == 0)
      for _ in 0..<2 { #expect(throws: (any Error).self) { try file.open() } }
      // After the operator has removed the foreign log, the database opens with all its rows.
      #expect(try readFile(file.path) == before)
      _ = try run("rm", ["-f", "\(file.path)-wal", "\(file.path)-shm"])
      try await file.with { store async throws in #expect(try await Picture(of: store) == wanted) }
    }
  }

  @Test func `an old write-ahead log shows no row that was never written`() async throws {
    try await withStoreFile { file in
      let wanted = try await file.with { store async throws in
        let house = try await FullHouse(store)
        let all = try await store.authentications(AuthenticationFilter(), after: nil, limit: 9, at: house.stage.at(4))
        try writeFile("\(file.path).kept", readFile("\(file.path)-wal"))
        #expect(try await !store.revoke(AuthenticationFilter(), audit: nil, at: house.stage.at(4)).isEmpty)
        return all
      }
      _ = try run("mv", ["\(file.path).kept", "\(file.path)-wal"])
      // The threat model accepts that an attacker who can write the file can restore an old one. The store then shows
      // rows that were once valid, and it reports a mixture of old and new pages as damage.
      try await file.with { store async throws in
        let back = try await store.authentications(
          AuthenticationFilter(), after: nil, limit: 9, at: Instant(milliseconds: 0))
        #expect(back.allSatisfy(wanted.contains))
        if try await store.integrityProblems().isEmpty { #expect(try await store.verifyRows(step: 10) == 0) }
      }
    }
  }

  @Test(arguments: [0, 1, 31, 32, 33, 4096, 10_000])
  func `a truncated or random write-ahead log loses only what it contained`(length: Int) async throws {
    try await withStoreFile { file in
      let wanted = try await file.with { store async throws in
        _ = try await FullHouse(store)
        return try await Picture(of: store)
      }
      var noise = SystemRandomNumberGenerator()
      try writeFile("\(file.path)-wal", (0..<length).map { _ in UInt8.random(in: 0...255, using: &noise) }, mode: 0o600)
      try await file.with { store async throws in #expect(try await Picture(of: store) == wanted) }
    }
  }
}
