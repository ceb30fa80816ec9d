import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

/// The marks of the nonces that the stores of the test received.
private final class HeardNonces: Sendable {
  let marks = Locked<Set<UInt64>>([])
}

/// How a used nonce reaches the other stores.
extension NewsTests {
  @Test func `a lone store stops notifying for each nonce, and a store that joins receives all earlier ones`()
    async throws
  {
    try await withTwo { place, one, other in
      other.close()
      let ear = try place.connect()
      try ear.listen(to: "regent_news", by: serverDeadline)
      let heard = HeardNonces()
      func following(_ store: PostgreSQLStore) -> Task<Void, any Error> {
        Task {
          var position = try await store.endOfChanges()
          while !Task.isCancelled {
            let page = try await store.changes(after: position, waiting: .milliseconds(250))
            heard.marks.withLock { $0.formUnion(page.nonces.map(\.mark)) }
            position = page.position
          }
        }
      }
      let key = try #require(PublicKey("key"))
      let used = Locked<UInt64>(0)
      // Shares thirty nonces one after the other and returns how many notifications announced them.
      func news() async throws -> Int {
        while try !ear.notifications(by: .after(.zero)).isEmpty {}
        for _ in 0..<30 {
          let mark = used.withLock { used in
            used += 1
            return used
          }
          try await one.share([UsedNonce(key: key, second: 7, mark: mark)])
          try await pass(milliseconds: 5)
        }
        var count = 0
        while case let bells = try ear.notifications(by: .after(.zero)), !bells.isEmpty {
          count += bells.count { $0.payload.hasSuffix("news") }
        }
        return count
      }
      let first = following(one)
      defer { first.cancel() }
      #expect(try await news() > 10, "the store does not know yet that it is alone")
      // The store must hear no other store's notification for 1.5 s, and one heartbeat must find no other node.
      try await eventually("the store to find that it is alone", within: 30) { try await news() <= 2 }
      #expect(heard.marks.withLock { $0.isEmpty }, "a store does not receive its own nonces")
      let newcomer = try PostgreSQLStore(place.options(node: "newcomer"))
      defer { newcomer.close() }
      let second = following(newcomer)
      defer { second.cancel() }
      let all = used.withLock { Set(1...$0) }
      try await eventually("the newcomer to hear of all of them") { heard.marks.withLock { $0 == all } }
      try await eventually("the store to notify the newcomer") { try await news() > 10 }
    }
  }

  @Test func `more nonces than fit in a page are read over several pages`() async throws {
    try await withTwo { place, one, _ in
      try place.connect().run(
        """
        WITH all_rows AS (
          INSERT INTO nonce (n, lane, used, guesses)
          SELECT n, 0, 'key 7/' || lpad(to_hex(n), 16, '0'), '' FROM generate_series(1, 2500) AS n RETURNING n)
        INSERT INTO nonce_count (id, n) SELECT 1, max(n) FROM all_rows ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n
        """, by: serverDeadline)
      var page = try await one.changes(after: try await one.endOfChanges(), waiting: .zero)
      var (pages, marks) = (1, Set(page.nonces.map(\.mark)))
      while page.hasMore {
        page = try await one.changes(after: page.position, waiting: .zero)
        pages += 1
        marks.formUnion(page.nonces.map(\.mark))
      }
      #expect(pages == 3 && marks == Set(1...2500))
    }
  }

  /// These tables are not signed: an attacker who may write there can store any number.
  @Test func `forged numbers of nonces stop neither the clean-up nor the sharing, and delete no other nonce`()
    async throws
  {
    try await withTwo { place, one, other in
      let operating = try place.connect()
      let key = try #require(PublicKey("key"))
      var position = try await other.endOfChanges()
      /// Shares a nonce and returns the marks of the nonces that the other store then receives.
      func shared(_ mark: UInt64) async throws -> Set<UInt64> {
        try await one.share([UsedNonce(key: key, second: 7, mark: mark)])
        var marks: Set<UInt64> = []
        try await eventually("the other store to receive the nonce") {
          let page = try await other.changes(after: position, waiting: .seconds(10))
          position = page.position
          marks.formUnion(page.nonces.map(\.mark))
          return marks.contains(mark) ? true : nil
        }
        return marks
      }
      func cleanUp() async throws -> Int64? {
        let node = try #require(NodeID("one"))
        #expect(try await one.take(.upkeep, as: node, for: .seconds(30), at: Instant(milliseconds: 0)))
        return try operating.run("SELECT count(*) FROM nonce", by: serverDeadline).first?.integer(0)
      }
      #expect(try await shared(1) == [1])
      for (mark, forged) in [(2, Int64.min), (3, .max)] as [(UInt64, Int64)] {
        try operating.run(
          "INSERT INTO nonce (n, lane, used, guesses) VALUES (\(forged), 1, 'key 7/00000000000000ff', '')",
          by: serverDeadline)
        #expect(try await shared(mark) == [mark], "a row with the number \(forged)")
        #expect(try await cleanUp() == Int64(mark), "a row with the number \(forged)")
      }
      for (mark, forged) in [(4, Int64.min), (5, .max), (6, .max - 1)] as [(UInt64, Int64)] {
        try operating.run("UPDATE nonce_count SET n = \(forged)", by: serverDeadline)
        #expect(try await cleanUp() == Int64(mark) - 1, "a counter of \(forged)")
        #expect(try await shared(mark).contains(mark), "a counter of \(forged)")
      }
    }
  }
}
