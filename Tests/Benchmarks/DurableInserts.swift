internal import Glibc
internal import SQLite
internal import RegentPlatform
import Synchronization
internal import TestSupport

// Durable inserts through the writer thread, compared with Python's sqlite3: same table, synchronous=FULL, 64 rows a
// transaction. Ours come from 64 requesters that each wait for the result before the next insert; Python has its
// batches ready.

func durableInsertRows() -> [Row] {
  [
    Row(name: "sqlite: durable inserts", unit: "rows/s", bar: .oursOverReference(atLeast: 0.8)) {
      try compareInserts(rows: 64 * 600, rounds: 7)
    }
  ]
}

private func compareInserts(rows: Int, rounds: Int) throws -> Measurement {
  let script = "\(packageFolder())/Tests/Benchmarks/reference/durable_inserts.py"
  var ours: [Double] = []
  var reference: [Double] = []
  // The first pair warms up and is discarded.
  for round in 0...rounds {
    let (own, other) = try withTemporaryFolder { folder in
      let python = try run("python3", [script, "\(folder)/python.db", String(rows)], deadline: 120)
      guard let rate = Double(python.outputText.filter { !$0.isWhitespace }) else {
        throw TestSupportError("python3 said: \(python.errorText)")
      }
      return (try durableInsertsPerSecond(in: "\(folder)/own", rows: rows, requesters: 64), rate)
    }
    guard round > 0 else { continue }
    ours.append(own)
    reference.append(other)
  }
  let alone = try withTemporaryFolder { folder in
    try durableInsertsPerSecond(in: folder, rows: 4_000, requesters: 1)
  }
  return Measurement(
    ours: median(ours), reference: median(reference),
    note: "a lone requester waits \(text(1_000_000 / alone)) µs for a durable row")
}

/// Inserts rows like those of registration codes and returns how many a second became durable.
func durableInsertsPerSecond(in folder: String, rows: Int, requesters: Int) throws -> Double {
  let database = try Database(
    DatabaseOptions(
      path: "\(folder)/bench.db", applicationID: 1,
      migrations: [
        Migration("code") { context in
          try context.runScript(
            """
            CREATE TABLE code (id BLOB PRIMARY KEY, hash BLOB NOT NULL UNIQUE, public_key TEXT NOT NULL,
              payload TEXT NOT NULL, expires INTEGER NOT NULL, signature BLOB NOT NULL) STRICT
            """)
        }
      ]))
  defer { database.close() }
  var before = rusage()
  unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &before)
  let load = InsertLoad(database, codes: (0..<rows).map { _ in Code() })
  let start = seconds()
  for _ in 0..<requesters { load.insertNext() }
  load.waitUntilDone()
  let duration = seconds() - start
  if let error = load.error { throw error }
  return Double(rows) / duration
}

private func seconds() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private struct Code: Sendable {
  let id = bytes(16)
  let hash = bytes(32)
  let publicKey = String(repeating: "k", count: 32)
  let payload = String(repeating: "p", count: 120)
  let expires = 1_700_000_000_000
  let signature = bytes(32)

  /// Pseudo-random bytes, so that ids and hashes scatter over their indexes; the generator costs next to nothing.
  private static func bytes(_ count: Int) -> [UInt8] {
    (0..<(count + 7) / 8).flatMap { _ -> [UInt8] in
      let mixed = position.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
      var word = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      word ^= word >> 31
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
  }

  private static let position = Atomic<UInt64>(1)
}

/// Requesters without threads: the completion of each insert starts the next one, as in an event loop.
private final class InsertLoad: Sendable {
  private let database: Database
  private let codes: [Code]
  private let started = Atomic(0)
  private let state = Locked(State())

  private struct State {
    var finished = 0
    var error: (any Error)?
  }

  init(_ database: Database, codes: [Code]) {
    self.database = database
    self.codes = codes
  }

  var error: (any Error)? { state.withLock { $0.error } }

  func insertNext() {
    let number = started.wrappingAdd(1, ordering: .relaxed).oldValue
    guard number < codes.count else { return }
    let code = codes[number]
    database.write({ context in
      try context.run(
        """
        INSERT INTO code VALUES (\(code.id), \(code.hash), \(code.publicKey), \(code.payload), \(code.expires), \
        \(code.signature))
        """)
    }) { (result: Result<Int, any Error>) in
      self.state.withLock { state in
        state.finished += 1
        if case .failure(let error) = result { state.error = error }
      }
      self.insertNext()
    }
  }

  func waitUntilDone() {
    while state.withLock({ $0.finished < codes.count && $0.error == nil }) { usleep(500) }
  }
}
