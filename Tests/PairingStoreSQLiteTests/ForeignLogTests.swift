import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import TestSupport
import Testing

/// SQLite believes the write-ahead log that it finds beside a database, whoever put it there.
@Suite struct `A write-ahead log that somebody put beside the database` {
  @Test func `from another database is refused at opening, and spoils nothing`() async throws {
    try await withTemporaryFolder { folder in
      let file = StoreFile(path: "\(folder)/regent.db")
      let wanted = try await file.with { store async throws in
        _ = try await FullHouse(store)
        return try await Picture(of: store)
      }
      let before = try readFile(file.path)
      let other = StoreFile(path: "\(folder)/other/regent.db")
      try await other.with { store async throws in _ = try await FullHouse(store) }
      // All its pages, whatever a quiet moment had copied back before.
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
      // Who finds out takes the foreign log away, and everything is there.
      #expect(try readFile(file.path) == before)
      _ = try run("rm", ["-f", "\(file.path)-wal", "\(file.path)-shm"])
      try await file.with { store async throws in #expect(try await Picture(of: store) == wanted) }
    }
  }

  @Test func `from an earlier day brings nothing that nobody wrote`() async throws {
    try await withStoreFile { file in
      let wanted = try await file.with { store async throws in
        let house = try await FullHouse(store)
        let all = try await store.authentications(AuthenticationFilter(), after: nil, limit: 9, at: house.stage.at(4))
        try writeFile("\(file.path).kept", readFile("\(file.path)-wal"))
        #expect(try await !store.revoke(AuthenticationFilter(), audit: nil, at: house.stage.at(4)).isEmpty)
        return all
      }
      _ = try run("mv", ["\(file.path).kept", "\(file.path)-wal"])
      // As the threat model says, whoever may write the file may put it back, whole or in parts: what is shown then is
      // what was written once, and a mixture is damage that is said.
      try await file.with { store async throws in
        let back = try await store.authentications(
          AuthenticationFilter(), after: nil, limit: 9, at: Instant(milliseconds: 0))
        #expect(back.allSatisfy(wanted.contains))
        if try await store.integrityProblems().isEmpty { #expect(try await store.verifyRows(step: 10) == 0) }
      }
    }
  }

  @Test(arguments: [0, 1, 31, 32, 33, 4096, 10_000])
  func `that is cut off or noise loses what was in it, and nothing else`(length: Int) async throws {
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
