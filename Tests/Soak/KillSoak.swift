internal import Glibc
internal import SQLite
internal import StorageFaults
internal import Synchronization
internal import TestSupport

/// Kills a writing process at random moments and checks that its acknowledged rows survive.
struct KillSoak {
  let cycles: Int
  /// Whether the simulated kernel gets writes late.
  ///
  /// Then rows must be lost, which shows that the check works.
  let lateLog: Bool

  /// Runs all cycles, or ends at the first loss.
  ///
  /// - Returns: how many cycles lost something.
  func run() throws -> Int {
    var folder = try makeTemporaryFolder()
    defer { removeTree(folder) }
    var acknowledged: Set<Int> = []
    var submitted: Set<Int> = []
    var counted = 0
    var idle = 0
    var inFlight = 0
    var total = 0
    while counted < cycles {
      // Start with a new file every 25 cycles, so that the check of each cycle stays short.
      if counted % 25 == 0 {
        removeTree(folder)
        folder = try makeTemporaryFolder()
        acknowledged = []
        submitted = []
      }
      let log = try killOnce(path: "\(folder)/soak.db", first: (submitted.max() ?? 0) + 1)
      acknowledged.formUnion(log.acknowledged)
      submitted.formUnion(log.submitted)
      let verdict = try judge(
        path: "\(folder)/soak.db", acknowledged: acknowledged, submitted: submitted)
      guard verdict.isGood else {
        say(
          "LOST in cycle \(counted + 1): \(verdict.lost.count) acknowledged rows missing "
            + "\(verdict.lost.prefix(5)), \(verdict.invented.count) invented, damage: \(verdict.damage)"
        )
        return 1
      }
      total += log.acknowledged.count
      // A kill that met no write in progress proves nothing, so the cycle is repeated.
      guard log.submitted.count > log.acknowledged.count else {
        idle += 1
        continue
      }
      inFlight += log.submitted.count - log.acknowledged.count
      counted += 1
    }
    say(
      "\(counted) kills, each with a write in flight (\(inFlight) in all, \(idle) idle cycles repeated): "
        + "\(total) acknowledged rows, none lost, every integrity check ok")
    return 0
  }

  private func killOnce(path: String, first: Int) throws -> WriterLog {
    let records = "\(path).acknowledged"
    _ = unsafe unlink(records)
    let program = try RunningProgram(
      try ownProgram(),
      ["child", "--database", path, "--first", String(first)]
        + (lateLog ? ["--late-log"] : []),
      standardOutput: records, standardError: "\(path).errors")
    try eventually("the first acknowledgement") {
      if let code = program.poll() {
        let words = String(decoding: try readFile("\(path).errors"), as: UTF8.self)
        throw TestSupportError("the writer ended with \(code): \(words)")
      }
      return try WriterLog(records).acknowledged.isEmpty ? nil : true
    }
    pass(milliseconds: Int.random(in: 0..<25))
    program.signal(SIGKILL)
    _ = try program.wait()
    return try WriterLog(records)
  }
}

/// The path of this program, which starts itself as the child.
private func ownProgram() throws -> String {
  guard let found = unsafe realpath("/proc/self/exe", nil) else {
    throw TestSupportError("/proc/self/exe leads nowhere")
  }
  defer { unsafe free(found) }
  return unsafe String(cString: found)
}

/// What the killed process recorded: records of nine bytes, a letter and a number.
///
/// Each record was one `write` in append mode, so it is whole, and the kernel keeps it when the process dies.
struct WriterLog {
  var submitted: Set<Int> = []
  var acknowledged: Set<Int> = []

  init(_ path: String) throws {
    let bytes = try readFile(path)
    for start in stride(from: 0, to: bytes.count - bytes.count % 9, by: 9) {
      let number = bytes[start + 1..<start + 9].reversed().reduce(0) { $0 << 8 | Int($1) }
      if bytes[start] == UInt8(ascii: "a") { acknowledged.insert(number) }
      if bytes[start] == UInt8(ascii: "s") { submitted.insert(number) }
    }
  }
}

/// The child process that is killed: sixteen tasks record each row before they write it and after it is acknowledged.
func writeForEver(path: String, first: Int, lateLog: Bool) async throws -> Never {
  var options = numberedRows(at: path)
  if lateLog {
    let disk = FaultyDisk()
    disk.lie(about: .lateLog)
    options.fileLayer = disk.name
  }
  // Small limits, so that kills also hit checkpoints.
  options.writer.passivePages = 50
  options.writer.forcedPages = 200
  options.onFailStop = { error in
    say("stopped: \(error)")
    exit(4)
  }
  let database = try Database(options)
  let numbers = Numbers(from: first)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<16 {
      group.addTask {
        while true {
          let number = numbers.next()
          record(UInt8(ascii: "s"), number)
          try await database.write { try insertRow(number, in: $0) }
          record(UInt8(ascii: "a"), number)
        }
      }
    }
    try await group.waitForAll()
  }
  exit(4)
}

private func record(_ letter: UInt8, _ number: Int) {
  let bytes = [letter] + (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  guard unsafe bytes.withUnsafeBytes({ unsafe write(1, $0.baseAddress, 9) }) == 9 else { exit(4) }
}

private final class Numbers: Sendable {
  private let upcoming: Atomic<Int>

  init(from first: Int) { upcoming = Atomic(first) }

  func next() -> Int { upcoming.wrappingAdd(1, ordering: .relaxed).oldValue }
}
