import CommandKit
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPlatform

extension Move {
  private var marker: MovedDatabase { MovedDatabase(of: paths.database) }

  /// The text that the move stores in the server's database once all rows are in the file.
  ///
  /// It closes that database to services.
  ///
  /// The text has the path of the file, which services print that try to open the database. It also has the name of
  /// this move, by which an interrupted move is recognised.
  private func state(_ name: String) -> String {
    "moved to a file, \(paths.database)\(machineName().map { " on \($0)" } ?? "") \(Self.mark(name))"
  }

  private static func mark(_ name: String) -> String { "(\(name))" }

  /// Moves the database from the server into the file.
  func here() async throws {
    let lock = try lock()
    try MasterKeyFile(paths).refusePendingChange()
    switch try marker.state() {
    case .here, .left:
      guard try !PrivateFile.check(paths.database) else {
        throw CommandError(
          "the database file \(paths.database) already exists",
          hint: "move it away with mv, or name another file: --database FILE")
      }
    case .leaving: try marker.refuseService()
    case .arriving(let note):
      try refuseOtherPlace(note)
      let server = server
      if try await onThread("move", { try ServerSnapshot.state(of: server) }).hasSuffix(Self.mark(note.name)) {
        console.print("the interrupted move had already copied everything to the file")
        try finish()
        return lock.release()
      }
      // The file is from a move that was not completed. Services may have changed the server's database since, so the
      // file is removed.
      for suffix in ["", "-wal", "-shm"] { try DurableFile.remove(paths.database + suffix) }
      try marker.forget()
    }
    let draft = "\(paths.database).arriving"
    removeCopy(draft)
    defer { removeCopy(draft) }
    let (server, paths, person) = (server, paths, person)
    let snapshot = try await onThread("move") {
      try MasterKeyFile(paths).look { key in try ServerSnapshot(of: server, masterKey: key, isAlone: true) }
    }
    defer { snapshot.close() }
    let note = MovedDatabase.Note(name: newCopyName(), place: place)
    let state = state(note.name)
    let count = RowCount()
    let sent = try await console.progress("copying \(counted(count.now, "row"))") {
      try await copy(snapshot, to: draft, paths, count) { store in
        try await store.append(
          copyEntry(
            CopyMark(action: "database.move", detail: "from a database server to a file (\(note.name))"),
            by: person))
        if let numbers = try await dayNumbers(in: store) { try await keepDayNumbers(numbers, in: store) }
      }.sent
    }
    try marker.beginArriving(note)
    try DurableFile.rename(draft, over: paths.database)
    do {
      try await onThread("move") { try snapshot.leave(state) }
    } catch let failure as CopyFailure {
      throw failure
    } catch {
      // The server's database was not closed to services, so its rows are still the current ones. Remove the file.
      try DurableFile.remove(paths.database)
      try marker.forget()
      throw error
    }
    console.print("\(sent.rows) rows in \(sent.sums.count) tables are in \(paths.database), all verified")
    for remark in gapRemark(sent.gaps) { console.print(remark) }
    try finish()
    lock.release()
  }

  private func finish() throws {
    try marker.arrive()
    console.print("services can no longer use the database on the server")
    console.print("start the service with --database \(shellQuoted(paths.database))")
  }
}
