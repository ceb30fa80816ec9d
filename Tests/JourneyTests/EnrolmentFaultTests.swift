import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import RegentPairingWire
import SQLite
import ServiceTestSupport
import StorageFaults
import TestSupport
import Testing

@testable import PairingService

/// A code gives one key pair to one box, whatever the disk or the process of the service does in between.
@Suite struct `Enrolment with a failing disk or process` {
  private let stage: EnrolmentStage

  init() throws { stage = try EnrolmentStage() }

  @Test func `with a full disk, inviting fails and no enrolment code is used up`() async throws {
    let disk = FaultyDisk()
    try await withFileStore(on: disk) { store in
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        disk.fail([.write], at: 1, forEver: true, with: .full)
        await #expect(throws: StoreError.self) { try await stage.invite(service) }
        disk.heal()
        #expect(try await client.send(stage.request(1)).status == 403)
        try await stage.invite(service)
        let keys = service.core.provisioning.now.callKeys.count
        disk.fail([.write], at: 1, forEver: true, with: .full)
        for box in UInt8(1)...3 { #expect(try await client.send(stage.request(box)).status == 503) }
        #expect(service.core.provisioning.now.callKeys.count == keys)
        disk.heal()
        // None of the three refused boxes has used the code.
        #expect(try await client.send(stage.request(4)).status == 200)
        #expect(try await client.send(stage.request(1)).status == 403)
      }
    }
  }

  @Test func `after a kill at any write, the invited box gets its pair and no other box does`() async throws {
    let masterKey = Random.secret()
    let writes = try await withTemporaryFolder { folder in
      let disk = FaultyDisk()
      defer { disk.forget() }
      return try await enrol(folder, masterKey, disk) {}.writes
    }
    try #require(writes > 0)
    for failing in 1...(writes + 1) {
      try await withTemporaryFolder { folder in
        let disk = FaultyDisk()
        defer { disk.forget() }
        let enrolled = try await enrol(folder, masterKey, disk) {
          if failing <= writes { disk.fail([.write], at: failing, forEver: true) }
        }
        // The last writes may come before the answer or after the commit (a checkpoint of the log, or an audit line).
        // So the box must not have been told when the first write fails, must have been told when none fails, and
        // either is right in between.
        if failing == 1 { #expect(enrolled.told == nil) }
        if failing > writes { #expect(enrolled.told != nil) }
        for (way, files) in [("kill", enrolled.killed), ("power cut", enrolled.powerCut)] {
          try makeDisk("\(folder)/\(way)", from: files)
          try await goesOn(enrolled, "\(folder)/\(way)", masterKey)
        }
      }
    }
  }

  /// A service at which one box enrolled: what the box was told, and what the disk held at that moment.
  private struct Enrolled {
    let service: TestService
    let told: EnrolmentGrant?
    /// The number of writes that the enrolment needed.
    let writes: Int
    let killed: [String: [UInt8]]
    let powerCut: [String: [UInt8]]
  }

  private func enrol(
    _ folder: String, _ masterKey: Secret, _ disk: FaultyDisk, afterInviting fail: () -> Void
  ) async throws -> Enrolled {
    let store = try store(folder, masterKey, disk)
    defer { store.close() }
    let service = try await TestService(on: store)
    try await stage.invite(service)
    let before = disk.count(of: .write)
    fail()
    let answer = try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      try await client.send(stage.request(1))
    }
    defer { disk.heal() }
    return Enrolled(
      service: service, told: answer.status == 200 ? try stage.grant(answer, 1) : nil,
      writes: disk.count(of: .write) - before, killed: disk.contents(), powerCut: disk.survivors())
  }

  /// After the restart the same box repeats its request, as its retries do, and another box tries the code.
  private func goesOn(
    _ enrolled: Enrolled, _ folder: String, _ masterKey: Secret
  ) async throws {
    let store = try store(folder, masterKey)
    defer { store.close() }
    let again = try await TestService(restarting: enrolled.service, on: store)
    try await TestTransport.inProcess.withClient(of: try again.router()) { client in
      let answer = try await client.send(stage.request(1))
      #expect(answer.status == 200, "\(folder): \(answer.text)")
      let grant = try stage.grant(answer, 1)
      if let told = enrolled.told {
        #expect(grant == told, "\(folder): another pair than the one that the box was told")
      }
      #expect(again.core.provisioning.now.callKeys[grant.publicKey] != nil)
      #expect(try await client.send(stage.request(2)).status == 403)
    }
  }

  private func store(_ folder: String, _ masterKey: Secret, _ disk: FaultyDisk? = nil) throws -> SQLiteStore {
    var options = SQLiteStoreOptions(
      path: "\(folder)/regent.db", masterKey: masterKey, wallClock: { Instant(milliseconds: 0) })
    if let disk { options.fileLayer = disk.name }
    return try SQLiteStore(options)
  }
}
