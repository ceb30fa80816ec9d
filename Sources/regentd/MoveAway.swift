import CommandKit
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPlatform

extension Move {
  private var marker: MovedDatabase { MovedDatabase(of: paths.database) }

  private static func mark(_ name: String) -> CopyMark {
    CopyMark(action: "database.move", detail: "to a server (\(name))")
  }

  /// Moves the database from the file to the server.
  ///
  /// Sends a temporary copy; the file itself is not changed until all rows have arrived.
  func away(_ copy: DatabaseCopy) async throws {
    try RestoredDatabase(of: paths.database).finish()
    let lock = try lock()
    try MasterKeyFile(paths).refusePendingChange()
    switch try marker.state() {
    case .here: break
    case .left, .arriving: try marker.refuseService()
    case .leaving(let note):
      try refuseOtherPlace(note)
      let (server, mark) = (server, Self.mark(note.name))
      if try await onThread("move", { try ServerFilling.isThere(mark, on: server) }) {
        console.print("the interrupted move had already copied everything to the server")
        try finish()
        return lock.release()
      }
      try marker.forget()
    }
    guard try PrivateFile.check(paths.database) else {
      throw CommandError("there is no database \(paths.database)", hint: "name it: --database FILE")
    }
    try await refuseUnfit(server)
    defer { copy.remove() }
    try copy.makeHeld(of: paths.database, database: paths.database)
    let note = MovedDatabase.Note(name: newCopyName(), place: place)
    let gaps = try await prepare(copy.path, Self.mark(note.name))
    let marker = marker
    do {
      let arrived = try await fill(server, from: copy.path, paths, mark: Self.mark(note.name), console) {
        try marker.beginLeaving(note)
      }
      console.print("\(arrived.rows) rows in \(arrived.sums.count) tables are on the server, all verified")
    } catch let failure as CopyFailure {
      // It is unknown whether the COMMIT succeeded. The marker file stays, and the next attempt asks the server.
      if case .unknown = failure { throw failure }
      try marker.forget()
      throw failure
    } catch {
      try marker.forget()
      throw error
    }
    try finish()
    for remark in gapRemark(gaps) { console.print(remark) }
    lock.release()
  }

  /// Migrates and checks the copy, and records the move in its audit log.
  private func prepare(_ path: String, _ mark: CopyMark) async throws -> [String] {
    let paths = paths
    let store = try await onThread("move") { try MasterKeyFile(paths).look { key in try openStore(at: path, key) } }
    do {
      try await refuseDamage(of: store, paths)
      var found = StoreWalkResult()
      found.unverified = try await store.verifyRows()
      try refuseChanged(found)
      let gaps = try await store.auditProblems()
      try await store.append(copyEntry(mark, by: person))
      try await onThread("move") { store.close() }
      return gaps
    } catch {
      store.close()
      throw error
    }
  }

  private func finish() throws {
    if let kept = try marker.leave() { console.print("the old file is now \(kept); it is no longer used") }
    console.print("start the service with --database \(shellQuoted(place))")
  }
}
