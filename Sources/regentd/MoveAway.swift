import CommandKit
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPlatform

extension Move {
  private var marker: MovedDatabase { MovedDatabase(of: paths.database) }

  /// Moves the database from the file to the server.
  ///
  /// Sends the rows of a temporary copy. The database file itself is not changed until the server has all rows.
  func away(_ copy: DatabaseCopy) async throws {
    try RestoredDatabase(of: paths.database).finish()
    let lock = try lock()
    try MasterKeyFile(paths).refusePendingChange()
    switch try marker.state() {
    case .here: break
    case .left, .arriving: try marker.refuseService()
    case .leaving(let note):
      try refuseOtherPlace(note)
      let (server, mark) = (server, note.markOnServer)
      if try await onThread("move", { try ServerFilling.isThere(mark, on: server) }) {
        console.print("the interrupted move had already copied everything to the server")
        try finish()
        return lock.release()
      }
      try marker.forget()
    }
    guard try PrivateFile.check(paths.database) else {
      throw CommandError("there is no database \(paths.database)", hint: "name the database file: --database FILE")
    }
    try await refuseUnfit(server)
    defer { copy.remove() }
    try copy.makeHeld(of: paths.database, database: paths.database)
    let note = MovedDatabase.Note(name: newCopyName(), place: place)
    let gaps = try await prepare(copy.path, note.markOnServer)
    let marker = marker
    do {
      let arrived = try await fill(server, from: copy.path, paths, mark: note.markOnServer, console) {
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

extension MovedDatabase {
  /// Completes a move to this server that was interrupted after the COMMIT on the server.
  ///
  /// The caller is a service that is about to use the server's rows. So the file must not become the current database
  /// again, even if its marker file is deleted later.
  func completeLeaving(to server: ConnectionSettings) throws {
    // Another process holds the lock: its move is still running and completes the move itself.
    guard let lock = try lockIfFree() else { return }
    if case .leaving(let note) = try state(), try ServerFilling.isThere(note.markOnServer, on: server) {
      _ = try leave()
    }
    lock.release()
  }

  private func lockIfFree() throws(FileError) -> FileLock? {
    do throws(FileError) {
      return try FileLock(beside: database)
    } catch {
      guard case .held = error.kind else { throw error }
      return nil
    }
  }
}

extension MovedDatabase.Note {
  /// The audit line that this move, and no other, writes into the server's database.
  ///
  /// It shows whether the move was committed.
  fileprivate var markOnServer: CopyMark {
    CopyMark(action: "database.move", detail: "from a file to a database server (\(name))")
  }
}
