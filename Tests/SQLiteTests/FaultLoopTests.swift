internal import Glibc
internal import SQLite
internal import StorageFaults
internal import TestSupport
internal import Testing

/// Follows SQLite's own method: let operation N fail, check the result, then N + 1, until no operation fails.
@Suite("Each disk operation fails once")
struct FaultLoopTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let operations: Set<FaultyDisk.Operation>
    let forEver: Bool
    let fault: FaultyDisk.Fault
    let testDescription: String
  }

  static let cases: [Case] = [
    Case(
      operations: [.write], forEver: false, fault: .inputOutput, testDescription: "a write, once"),
    Case(
      operations: [.write], forEver: true, fault: .inputOutput, testDescription: "writes, for ever"),
    Case(operations: [.write], forEver: false, fault: .full, testDescription: "a full disk, once"),
    Case(
      operations: [.write], forEver: true, fault: .full, testDescription: "a full disk, for ever"),
    Case(
      operations: [.synchronise], forEver: false, fault: .inputOutput,
      testDescription: "a sync, once"),
    Case(
      operations: [.synchronise], forEver: true, fault: .inputOutput,
      testDescription: "syncs, for ever"),
    Case(operations: [.read], forEver: false, fault: .inputOutput, testDescription: "a read, once"),
    Case(
      operations: [.truncate, .delete], forEver: false, fault: .inputOutput,
      testDescription: "a truncation or removal, once"),
    Case(
      operations: Set(FaultyDisk.Operation.allCases), forEver: false, fault: .inputOutput,
      testDescription: "anything, once"),
    Case(
      operations: Set(FaultyDisk.Operation.allCases), forEver: true, fault: .inputOutput,
      testDescription: "everything, for ever"),
  ]

  @Test(arguments: cases)
  func `an acknowledged row survives and a refused row is absent, whichever operation fails`(plan: Case) async throws {
    try await withTemporaryFolder { folder in
      for round in 1...2_000 {
        let happened = try await play(plan, failing: round, in: "\(folder)/\(round)")
        removeTree("\(folder)/\(round)")
        if !happened { return }
      }
      Issue.record("there was always one more operation to fail")
    }
  }

  /// Writes rows on a disk whose operation number `failing` fails, then restarts, kills and cuts the power.
  ///
  /// - Returns: whether the run had that many operations.
  private func play(_ plan: Case, failing: Int, in folder: String) async throws -> Bool {
    // The file exists already, because creating it would wait for the real disk in each round.
    unsafe mkdir(folder, 0o700)
    try writeFile("\(folder)/things.db", [])
    let disk = FaultyDisk()
    var options = things(at: "\(folder)/things.db")
    options.fileLayer = disk.name
    options.writer.passivePages = 4
    options.readers = 1
    disk.fail(plan.operations, at: failing, forEver: plan.forEver, with: plan.fault)
    var acknowledged: Set<String> = []
    var refused: Set<String> = []
    var killed: [String: [UInt8]]?
    if let database = try? Database(options) {
      for number in 0..<6 {
        let name = "n\(number)"
        do {
          try await database.write { context in
            try context.run("INSERT INTO thing (name, body) VALUES (\(name), zeroblob(5000))")
          }
          acknowledged.insert(name)
        } catch let error as DatabaseFailure where error.nothingWritten {
          refused.insert(name)
        } catch {}
      }
      // Acknowledged rows can be read at once, unless the reader's own disk access fails.
      if let names = try? await database.names() {
        #expect(acknowledged.isSubset(of: names), "round \(failing)")
      }
      killed = disk.contents()
      database.close()
    }
    let happened = disk.heal()
    // A restart of the process: the kernel still has the written data.
    let again = try Database(options)
    try await judge(again, acknowledged, refused, "round \(failing), reopened")
    try await again.write { try insert("more", in: $0) }
    let files = disk.survivors()
    again.close()
    // A process that was killed before it could close the database.
    if let killed {
      try await judge(
        files: killed, in: "\(folder)/killed", acknowledged, refused, "round \(failing), killed")
    }
    // A power cut: only what reached the disk remains.
    try await judge(
      files: files, in: "\(folder)/after", acknowledged.union(["more"]), refused,
      "round \(failing), power cut")
    disk.forget()
    return happened
  }

  private func judge(
    files: [String: [UInt8]], in folder: String, _ acknowledged: Set<String>,
    _ refused: Set<String>, _ comment: Comment
  ) async throws {
    try makeDisk(folder, from: files)
    var options = things(at: "\(folder)/things.db")
    let healthy = FaultyDisk()
    defer { healthy.forget() }
    options.fileLayer = healthy.name
    options.readers = 1
    let database = try Database(options)
    defer { database.close() }
    try await judge(database, acknowledged, refused, comment)
  }

  private func judge(
    _ database: Database, _ acknowledged: Set<String>, _ refused: Set<String>, _ comment: Comment
  ) async throws {
    let names = Set(try await database.names())
    #expect(acknowledged.subtracting(names) == [], comment)
    #expect(refused.intersection(names) == [], comment)
    #expect(try await database.integrityProblems() == [], comment)
  }
}
