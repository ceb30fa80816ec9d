import Glibc
import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import SQLite
import TestSupport
import Testing

/// A real file system of 24 MiB.
///
/// The store keeps a tenth of it as its reserve.
@Suite(.enabled(if: getuid() == 0, "mounting takes root"))
struct `The disk reserve` {
  private func withSmallDisk(_ body: (SQLiteStore, SmallDisk) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let disk = try SmallDisk(folder)
      defer { disk.unmount() }
      try await StoreFile(path: "\(folder)/regent.db").with { try await body($0, disk) }
    }
  }

  @Test func `on the reserve, sign-outs, operators and upkeep can write, and new sign-ins resume once there is room`()
    async throws
  {
    try await withSmallDisk { store, disk in
      let stage = try await ConformanceFixture(store)
      let signedIn = try await stage.signedIn(1)
      let guest = try await store.signInWithoutCode(stage.guest(9, at: stage.pass, device: 9), at: stage.at(1))
      let news = try await store.record(stage.permit(of: signedIn, "news"), at: stage.at(2))
      let waiting = try await stage.claimed(2, device: 2)
      let forOperator = try stage.registration(3, device: 3)
      try await stage.reserve(forOperator)
      try disk.fill(leaving: 2_000_000)
      _ = try await eventually("the reserve alone is left") { await store.isOnReserve ? true : nil }
      func refuses(_ what: String, _ ask: () async throws -> Void) async {
        do {
          try await ask()
          Issue.record("not refused: \(what)")
        } catch {
          #expect(error as? StoreError == .diskFull, "\(what): \(error)")
        }
      }
      await refuses("code") { try await stage.reserve(try stage.registration(4, device: 4)) }
      await refuses("approval") {
        _ = try await store.approve(
          waiting.record.id, try stage.yes(waiting.session, as: 2), audit: nil, at: stage.at(3))
      }
      await refuses("permit") { _ = try await store.record(stage.permit(of: signedIn, "films"), at: stage.at(3)) }
      await refuses("guest") {
        _ = try await store.signInWithoutCode(stage.guest(10, at: stage.pass, device: 10), at: stage.at(3))
      }
      await refuses("title of a guest") {
        _ = try await store.openTemporarily(
          guest.authentication.id, try ConformanceFixture.name("news"), at: stage.at(3))
      }
      // Permits that exist stay valid, and requests that end something are written.
      #expect(try await store.record(stage.permit(of: signedIn, "news"), at: stage.at(3)) == news)
      let yes = try stage.order(for: stage.ann, as: 3)
      _ = try await store.approve(forOperator.id, yes, audit: nil, at: stage.at(3))
      _ = try await store.deny(waiting.record.id, by: waiting.session, audit: nil, at: stage.at(3))
      try await store.append(AuditEntry(at: stage.at(3), actor: .service, action: "test", subject: "x"))
      let ended = try await store.signOut(
        requestor: stage.requestor, device: signedIn.deviceHash, at: stage.at(3))
      #expect(ended.count == 1)
      #expect(try await store.forgetExpired(at: stage.at(9_999_999), limit: 99) > 0)
      disk.makeRoom()
      _ = try await eventually("there is room") { await store.isOnReserve ? nil : true }
      try await stage.reserve(try stage.registration(4, device: 4))
    }
  }

  @Test func `on the reserve, strangers cannot make the database grow`() async throws {
    try await withSmallDisk { store, disk in
      let stage = try await ConformanceFixture(store)
      func account(_ name: String) throws -> LoginSubject { .account(stage.local, try ConformanceFixture.name(name)) }
      for _ in 0..<7 { _ = try await store.recordLoginFailure(of: account("attacked"), at: stage.at(1)) }
      for number in 1..<1000 {
        _ = try await store.recordLoginFailure(of: account("name-\(number)"), at: stage.at(1 + number))
      }
      try disk.fill(leaving: 2_000_000)
      _ = try await eventually("the reserve alone is left") { await store.isOnReserve ? true : nil }
      await #expect(throws: StoreError.diskFull) {
        _ = try await stage.session(9, as: Viewer(provider: stage.pass, account: nil), second: 3)
      }
      for actor: AuditEntry.Actor in [.device(stage.requestor), .viewer(Viewer(provider: stage.pass, account: nil))] {
        await #expect(throws: StoreError.diskFull) {
          try await store.append(AuditEntry(at: stage.at(3), actor: actor, action: "device.refuse", subject: "x"))
        }
      }
      try await store.append(
        AuditEntry(at: stage.at(3), actor: .operator(stage.carl), action: "account.set", subject: "x"))
      _ = try await stage.session(8, as: stage.bob, second: 3)
      // Failed sign-ins are counted, and each new counter replaces one of the thousand.
      for number in 1000..<1100 {
        _ = try await store.recordLoginFailure(of: account("name-\(number)"), at: stage.at(1 + number))
      }
      let rows: Int64? = try await store.database.read { context in
        try context.value("SELECT count(*) FROM login_failure")
      }
      #expect(rows == 1000)
      #expect(try await store.loginFailures(of: account("attacked"))?.count == 7)
      #expect(try await store.loginFailures(of: account("name-1099"))?.count == 1)
    }
  }

  @Test func `free pages inside the database file count as room, so the store is not on its reserve`() async throws {
    try await withTemporaryFolder { folder in
      let disk = try SmallDisk(folder)
      defer { disk.unmount() }
      let file = StoreFile(path: "\(folder)/regent.db")
      let code = try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        let long = String(repeating: "x", count: 100_000)
        for number in 1...60 {
          try await store.append(
            AuditEntry(at: stage.at(number), actor: .service, action: "test", subject: "x", detail: long))
        }
        let retention = AuditRetention(age: .seconds(1), most: 1000, least: 1)
        while try await store.forgetAudit(beyond: retention, at: stage.at(9999), limit: 10) > 0 {}
        return try stage.registration(1)
      }
      try disk.fill(leaving: 2_000_000)
      try await file.with { store async throws in
        #expect(await !store.isOnReserve)
        _ = try await store.reserve(code, within: LiveCodeLimits(9), at: code.flow.issued)
      }
    }
  }
}

extension ConformanceFixture {
  fileprivate func permit(of record: AuthenticationRecord, _ title: String) throws -> Permit {
    Permit(try Self.name(title), for: record.authentication, lifetime: .seconds(3600), at: at(2))
  }
}

/// A file system in memory that lasts for one test.
private struct SmallDisk {
  private let place: String

  init(_ place: String) throws {
    self.place = place
    let done = try run("mount", ["-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", place])
    guard done.status == 0 else { throw TestSupportError("no small disk: \(done.errorText)") }
  }

  func fill(leaving bytes: Int) throws {
    let script = "free=$(df -B1 --output=avail \"$0\" | tail -1); head -c $((free - $1)) /dev/zero > \"$0/filling\""
    let done = try run("bash", ["-c", script, place, "\(bytes)"])
    guard done.status == 0 else { throw TestSupportError("not filled: \(done.errorText)") }
  }

  func makeRoom() { _ = try? run("rm", ["\(place)/filling"]) }

  func unmount() { _ = try? run("umount", ["-l", place]) }
}
