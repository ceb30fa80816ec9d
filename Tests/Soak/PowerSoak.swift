internal import RegentPlatform
internal import SQLite
internal import StorageFaults
internal import TestSupport

/// Cuts the power of a simulated disk during writes and checks that the acknowledged rows survive.
struct PowerSoak {
  let cycles: Int
  /// Whether the disk ignores synchronisation.
  ///
  /// Then rows must be lost, which shows that the check works.
  let lyingDisk: Bool

  /// Runs all cycles, or ends at the first loss.
  ///
  /// - Returns: how many cycles lost something.
  func run() async throws -> Int {
    var total = 0
    for cycle in 1...max(1, cycles) {
      let (verdict, count) = try await withTemporaryFolder { try await cut(in: $0) }
      guard verdict.isGood else {
        say(
          "LOST in cycle \(cycle): \(verdict.lost.count) acknowledged rows missing "
            + "\(verdict.lost.prefix(5)), \(verdict.invented.count) invented, damage: \(verdict.damage)"
        )
        return 1
      }
      total += count
    }
    say("\(cycles) power cuts: \(total) acknowledged rows, none lost, every integrity check ok")
    return 0
  }

  private func cut(in folder: String) async throws -> (Verdict, Int) {
    let disk = FaultyDisk()
    var options = numberedRows(at: "\(folder)/before/soak.db")
    options.fileLayer = disk.name
    if lyingDisk { disk.lie(about: .synchronise) }
    // Small limits, so that the cut also hits checkpoints.
    options.writer.passivePages = 30
    options.writer.forcedPages = 60
    let database = try Database(options)
    let promised = Promised()
    let wanted = Int.random(in: 50...400)
    // The disk's state is copied in the middle of the writes, while the database goes on.
    let (acknowledged, files) = try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          for step in 0..<wanted / 8 + 1 {
            let number = step * 8 + writer + 1
            try await database.write { try insertRow(number, in: $0) }
            promised.numbers.withLock { _ = $0.insert(number) }
          }
        }
      }
      try await eventually("half of the promises") { promised.count >= wanted / 2 }
      // Copy the acknowledged numbers before the disk, because a row acknowledged later need not be on it.
      let acknowledged = promised.numbers.withLock { $0 }
      var generator = SystemRandomNumberGenerator()
      // Half of the cuts lose exactly what was not synchronised. The others keep some of it, torn writes included.
      let files =
        Bool.random() ? disk.survivors() : disk.survivors(keepingSomeBy: &generator)
      try await group.waitForAll()
      return (acknowledged, files)
    }
    database.close()
    try makeFolder("\(folder)/after")
    for (path, content) in files {
      let name = path.split(separator: "/").last.map(String.init) ?? path
      try writeFile("\(folder)/after/\(name)", content)
    }
    let possible = Set(1...(wanted + 16))
    let verdict = try judge(
      path: "\(folder)/after/soak.db", acknowledged: acknowledged, submitted: possible)
    return (verdict, acknowledged.count)
  }
}

private final class Promised: Sendable {
  let numbers = Monitor(Set<Int>())
  var count: Int { numbers.withLock { $0.count } }
}
