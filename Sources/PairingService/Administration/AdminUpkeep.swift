package import Administration
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

/// What the admin socket can do below the store: the program that opened the database does it.
package protocol AdminUpkeep: Sendable {
  /// Copies the database and checks the copy, its integrity and every signature, before it is called good.
  ///
  /// One copy is kept at a time; a new one replaces it.
  func makeBackup() async throws(AdminError) -> BackupEntry

  /// A part of the copy, at most so many bytes; empty behind its end.
  func backupPart(_ id: String, from offset: Int64, limit: Int) async throws(AdminError) -> [UInt8]

  /// Forgets the copy, and says which it was.
  func dropBackup(_ id: String) async throws(AdminError) -> BackupEntry

  /// Seals the data keys with a new master key, and says where it is.
  func changeMasterKey() async throws(AdminError) -> Finding

  /// What the checks of files, database and machine find.
  func findings() async -> [Finding]
}

extension AdminRouteBuilder {
  mutating func mountUpkeep(_ upkeep: any AdminUpkeep) {
    let started = core.clock.now
    on(.get, AdminPaths.service) { call throws(AdminError) in
      .document(
        ServiceInfo(
          version: call.core.options.version, started: started,
          publicURL: call.core.options.publicURL))
    }
    on(.get, AdminPaths.doctor) { call throws(AdminError) in
      let found = await upkeep.findings()
      do throws(AdminError) {
        return .list(of: found + (try await call.findings()))
      } catch {
        // Where the store does not answer, what was found says so, and what to do.
        guard found.contains(where: { $0.status == .bad }) else { throw error }
        return .list(of: found)
      }
    }
    on(.post, AdminPaths.changeMasterKey) { call throws(AdminError) in
      let finding = try await upkeep.changeMasterKey()
      await call.writeUpkeep("master-key.change", "master key")
      return .document(finding)
    }
    on(.post, AdminPaths.backups) { call throws(AdminError) in
      // What is counted in memory would be missing from the copy.
      await Upkeep(call.core).keepEverything()
      let entry = try await upkeep.makeBackup()
      await call.writeUpkeep("backup.make", entry.id)
      return .document(entry)
    }
    on(.get, AdminPaths.one(AdminPaths.backups, "{backup}")) { call throws(AdminError) in
      guard let offset = Int64(try call.parameter("offset") ?? "0"), offset >= 0 else {
        throw AdminError(.invalid, "offset must be a number from 0")
      }
      return .bytes(
        try await upkeep.backupPart(
          call.text("backup"), from: offset, limit: AdminPaths.backupPart))
    }
    on(.delete, AdminPaths.one(AdminPaths.backups, "{backup}")) { call throws(AdminError) in
      let entry = try await upkeep.dropBackup(call.text("backup"))
      // Only now: whoever fetched it may have been killed, or had no room for it.
      if try call.parameter("kept") == "true" { await call.noteBackup(entry.created) }
      return .done
    }
  }
}

extension AdminCall {
  /// A line for an act that the store does not carry in a transaction of its own.
  fileprivate func writeUpkeep(_ action: String, _ subject: String) async {
    await core.audit.write(.operator(`operator`), action, subject)
  }

  /// Notes that there is a backup; that it cannot be noted makes it no worse.
  fileprivate func noteBackup(_ time: Instant) async {
    do throws(StoreError) {
      try await core.store.keepNumbers(String(time.milliseconds), as: .backup)
    } catch {
      core.warnOfUpkeep(error)
    }
  }
}
