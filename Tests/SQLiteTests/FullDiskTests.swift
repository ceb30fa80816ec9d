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
  @Test(arguments: [
    (FaultyDisk.Fault.full, false), (.full, true), (.fullByChanceComplete, true),
  ])
  func `the refused row is not there after a kill or a power cut`(
    fault: FaultyDisk.Fault, forEver: Bool
  ) async throws {
    let writes = try await writesOfOneRequest()
    for failing in 1...writes {
      let found = try await returns(fault, at: failing, forEver, lie: nil)
      #expect(found == [], "write \(failing) of \(writes)")
    }
    // The same on a disk that does not cut: the test must be able to fail. The last write completes the commit record,
    // and the synchronisation behind the cut that did not happen keeps it.
    let found = try await returns(fault, at: writes, forEver, lie: .truncate)
    #expect(found == ["after a kill", "after a power cut"])
  }

  private func writesOfOneRequest() async throws -> Int {
    try await withTemporaryFolder { folder in
      let disk = FaultyDisk()
      defer { disk.forget() }
      let database = try await usedTwice(disk, in: folder)
      defer { database.close() }
      let before = disk.count(of: .write)
      try await database.write { try fill("accepted", in: $0) }
      return disk.count(of: .write) - before
    }
  }

  /// Lets one write of a request fail.
  ///
  /// - Returns: in which ways the refused row came back.
  private func returns(
    _ fault: FaultyDisk.Fault, at failing: Int, _ forEver: Bool,
    lie: FaultyDisk.Lie?
  ) async throws -> [String] {
    let refusal = try await withTemporaryFolder { folder in
      let disk = FaultyDisk()
      defer { disk.forget() }
      let database = try await usedTwice(disk, in: folder)
      defer { database.close() }
      disk.lie(about: lie)
      disk.fail([.write], at: failing, forEver: forEver, with: fault)
      let error = await failure { try await database.write { try fill("refused", in: $0) } }
      let left = Refusal(killed: disk.contents(), powerCut: disk.survivors())
      #expect(disk.heal())
      guard case .diskFull? = error as? DatabaseFailure else {
        Issue.record("\(String(describing: error))")
        return left
      }
      return left
    }
    var found: [String] = []
    for (way, files) in [("kill", refusal.killed), ("power cut", refusal.powerCut)] {
      let names = try await rows(in: files)
      #expect(names.contains("before"))
      if names.contains("refused") { found.append("after a \(way)") }
    }
    return found
  }

  /// A database whose log was used, copied back, and begun again: the next rows are written over its old frames.
  private func usedTwice(
    _ disk: FaultyDisk, in folder: String
  ) async throws -> Database {
    var options = things(at: "\(folder)/things.db")
    options.fileLayer = disk.name
    options.readers = 1
    options.writer.passivePages = 30
    options.writer.quietNanoseconds = 600_000_000_000
    options.writer.truncateNanoseconds = 600_000_000_000
    let database = try Database(options)
    let first = logGeneration(disk)
    try await eventually("the log is begun again") {
      try await database.write { try fill("before", in: $0) }
      return logGeneration(disk) != first
    }
    // An answer is released before the writer looks after its log: the next request finds that done.
    try await database.write { _ in }
    return database
  }

  /// The number in the log's header that grows with each new use of the log.
  private func logGeneration(_ disk: FaultyDisk) -> [UInt8] {
    let log = disk.contents().first { $0.key.hasSuffix("-wal") }?.value ?? []
    return log.count < 16 ? [] : Array(log[12..<16])
  }

  private func fill(_ name: String, in context: borrowing WriteContext) throws {
    try context.run("DELETE FROM thing WHERE name = \(name)")
    try context.run("INSERT INTO thing (name, body) VALUES (\(name), zeroblob(37400))")
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
