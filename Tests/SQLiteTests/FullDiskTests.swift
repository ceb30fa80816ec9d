internal import SQLite
internal import StorageFaults
internal import TestSupport
internal import Testing

/// A refusal because of a full disk is a promise: the row is not there, whatever happens to the process next.
@Suite("A refusal on a full disk")
struct FullDiskTests {
  /// What the disk holds right after the refusal, when nobody has closed or checkpointed anything yet.
  struct Refusal {
    var killed: [String: [UInt8]] = [:]
    var powerCut: [String: [UInt8]] = [:]
  }

  /// The second half of a frame that is cut short is what an earlier use of the log left there.
  ///
  /// Rows look alike: when those bytes are the same as the missing ones, the commit record is complete after all,
  /// checksum included.
  @Test(arguments: [FaultyDisk.Fault.full, .fullByChanceComplete], [false, true])
  func `the refused row is not there after a kill or a power cut`(
    fault: FaultyDisk.Fault, forEver: Bool
  ) async throws {
    #expect(try await returningRows(fault, forEver, sabotage: .none) == [])
    // The same without the cut: the test must be able to fail.
    #expect(try await returningRows(fault, forEver, sabotage: .trustTheRefusal) != [])
  }

  /// Lets each write of one request fail in turn.
  ///
  /// - Returns: at which of them a refused row came back, and how.
  private func returningRows(
    _ fault: FaultyDisk.Fault, _ forEver: Bool, sabotage: StorageSettings.Sabotage
  ) async throws -> [String] {
    var found: [String] = []
    for failing in 1...40 {
      let refusal = try await withTemporaryFolder { folder in
        try await refuse(fault, at: failing, forEver, sabotage: sabotage, in: folder)
      }
      guard let refusal else { return found }
      for (way, files) in [("kill", refusal.killed), ("power cut", refusal.powerCut)] {
        let names = try await rows(in: files)
        #expect(names.contains("before"), "write \(failing), \(way)")
        if names.contains("refused") { found.append("write \(failing), \(way)") }
      }
    }
    Issue.record("there was always one more write to fail")
    return found
  }

  /// - Returns: what was left behind, or nil when the request had fewer writes than that.
  private func refuse(
    _ fault: FaultyDisk.Fault, at failing: Int, _ forEver: Bool,
    sabotage: StorageSettings.Sabotage, in folder: String
  ) async throws -> Refusal? {
    let disk = FaultyDisk()
    defer { disk.forget() }
    var options = things(at: "\(folder)/things.db")
    options.storage = StorageSettings(vfsName: disk.name, sabotage: sabotage)
    options.readers = 1
    options.writer.passivePages = 30
    options.writer.quietNanoseconds = 60_000_000_000
    let database = try Database(options)
    defer { database.close() }
    // The log is used once and copied back, so that the next rows are written over its old frames.
    let first = logGeneration(disk)
    while logGeneration(disk) == first {
      try await database.write { try fill("before", in: $0) }
    }
    disk.fail([.write], at: failing, forEver: forEver, with: fault)
    let error = await failure { try await database.write { try fill("refused", in: $0) } }
    let left = Refusal(killed: disk.contents(), powerCut: disk.survivors())
    guard disk.heal(), let error else { return nil }
    guard case .diskFull? = error as? DatabaseFailure else {
      Issue.record("\(error)")
      return nil
    }
    return left
  }

  /// The number in the log's header that grows with each new use of the log.
  private func logGeneration(_ disk: FaultyDisk) -> [UInt8] {
    let log = disk.contents().first { $0.key.hasSuffix("-wal") }?.value ?? []
    return log.count < 16 ? [] : Array(log[12..<16])
  }

  private func fill(_ name: String, in context: borrowing WriteContext) throws {
    try context.run("DELETE FROM thing WHERE name = \(name)")
    try context.run("INSERT INTO thing (name, body) VALUES (\(name), zeroblob(40000))")
  }

  private func rows(in files: [String: [UInt8]]) async throws -> [String] {
    try await withTemporaryFolder { folder in
      try makeDisk("\(folder)/after", from: files)
      let database = try Database(things(at: "\(folder)/after/things.db"))
      defer { database.close() }
      #expect(try await database.integrityProblems() == [])
      return try await database.names()
    }
  }
}
