internal import SQLite
internal import StorageFaults
internal import TestSupport
internal import Testing

/// An answer that the disk is full promises that the row was not written, even after a kill or a power cut.
@Suite("Writes refused on a full disk")
struct FullDiskTests {
  /// The files right after the refusal, before a close or a checkpoint changes them.
  struct Refusal {
    var killed: [String: [UInt8]] = [:]
    var powerCut: [String: [UInt8]] = [:]
  }

  /// A write that is cut in half leaves old bytes of the log behind it.
  ///
  /// Rows look alike. If the old bytes equal the missing ones, the commit record is complete after all, checksum
  /// included.
  @Test(arguments: [
    (FaultyDisk.Fault.full, false), (.full, true), (.fullByChanceComplete, true),
  ])
  func `a refused row is absent after a kill or a power cut`(
    fault: FaultyDisk.Fault, forEver: Bool
  ) async throws {
    let writes = try await writesOfOneRequest()
    for failing in 1...writes {
      let found = try await returns(fault, at: failing, forEver, lie: nil)
      #expect(found == [], "write \(failing) of \(writes)")
    }
    // On a disk that does not truncate, the row must come back, which shows that the test works. The last write
    // completes the commit record, and the synchronisation after the failed truncation keeps it.
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

  /// Makes one write of a request fail.
  ///
  /// - Returns: after which events the refused row came back.
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

  /// A database whose log was checkpointed and restarted, so that the next rows overwrite its old frames.
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
    try await eventually("the log to be restarted") {
      try await database.write { try fill("before", in: $0) }
      return logGeneration(disk) != first
    }
    // The writer answers a request before it checks the log, so wait for the next request.
    try await database.write { _ in }
    return database
  }

  /// The checkpoint sequence number in the log's header, which changes when the log is restarted.
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
