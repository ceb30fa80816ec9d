import PairingStore
@testable import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPlatform
import RegentSQL
import TestSupport
import Testing

@Suite("Reads that share a PostgreSQL transaction", .serialized)
struct ReaderTests {
  /// Queues `count` reads, lets one reader serve them together, and returns their results.
  ///
  /// `seconds` is how long each may wait.
  private func together<Value: Sendable>(
    _ count: Int, seconds: UInt64 = 10, _ body: @escaping @Sendable (Int, borrowing ReadContext) throws -> Value
  ) throws -> [Result<Value, any Error>?] {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let found = Locked([Result<Value, any Error>?](repeating: nil, count: count))
    let queue = Monitor(Queue<PendingRead>())
    for number in 0..<count {
      let ends = Clocks.monotonicNanoseconds() + seconds * 1_000_000_000
      let read = PendingRead(ends: ends, { context in try body(number, context) }) { outcome in
        found.withLock { found in
          #expect(found[number] == nil, "answered twice")
          found[number] = outcome
        }
      }
      #expect(queue.add(read, most: 100))
    }
    queue.close()
    Reader(try place.options(), Health(Timelines())).serve(queue)
    return found.withLock { $0 }
  }

  /// The start time of the transaction in microseconds, and the number that was passed in.
  private static func moment(_ context: borrowing ReadContext, _ number: Int) throws -> [Int64] {
    let rows = try context.ask(
      "SELECT CAST(extract(epoch FROM now()) * 1000000 AS BIGINT), CAST(\(number) AS BIGINT)")
    return try [rows[0].integer(0), rows[0].integer(1)]
  }

  private static func total(_ context: borrowing ReadContext) throws -> Int64 {
    var sum: Int64 = 0
    for number in 0..<30 { sum += try moment(context, number)[1] }
    return sum
  }

  @Test func `reads that share a transaction see the same state of the database, and each gets its own result`() throws
  {
    let outcomes = try together(20) { number, context in
      try Self.moment(context, number) + Self.moment(context, 1_000 + number % 3)
    }
    let found = try outcomes.map { try #require(try $0?.get()) }
    #expect(Set(found.map { $0[0] }).count == 1, "one transaction")
    #expect(found.map { $0[1] } == (0..<20).map(Int64.init) && found.map { $0[3] } == (0..<20).map { 1_000 + $0 % 3 })
  }

  @Test func `a query that several reads need is sent once`() throws {
    let runs = Locked(0)
    let outcomes = try together(20) { _, context in
      runs.withLock { $0 += 1 }
      return try context.ask("SELECT CAST(random() * 1000000000 AS BIGINT)")[0].integer(0)
    }
    #expect(try Set(outcomes.map { try #require(try $0?.get()) }).count == 1)
    #expect(runs.withLock { $0 } == 40, "each read ran until its query had no result, and then once more")
  }

  @Test func `a read whose query fails does not fail the other reads in its transaction`() throws {
    let outcomes = try together(6) { number, context in
      try context.ask("SELECT 100 / CAST(\(number) AS BIGINT)")[0].integer(0)
    }
    #expect(throws: (any Error).self) { try outcomes[0]?.get() }
    #expect(try outcomes.dropFirst().map { try $0?.get() } == [100, 50, 33, 25, 20])
  }

  @Test
  func
    `a read with many queries does not delay the others, and a read that catches errors still gets its result`()
    throws
  {
    let outcomes = try together(3) { number, context in
      switch number {
      case 0: try Self.total(context)
      case 1: try Self.moment(context, 7)[1]
      default: (try? Self.moment(context, 8)[1]) ?? -1
      }
    }
    #expect(try outcomes.map { try $0?.get() } == [435, 7, 8])
  }

  @Test func `reads whose deadline has passed fail`() throws {
    let outcomes = try together(3, seconds: 0) { number, context in try Self.moment(context, number) }
    for outcome in outcomes { #expect(throws: StoreError.self) { try outcome?.get() } }
  }
}
