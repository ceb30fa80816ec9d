package import Administration
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

/// Operations of the admin socket on the database itself: backups, the change of the master key, checks.
///
/// The program that opened the database implements them.
package protocol AdminUpkeep: Sendable {
  /// Copies the database, and checks the copy's integrity and every signature in it before it returns.
  ///
  /// Only one copy is kept: a new copy replaces the earlier one.
  func makeBackup() async throws(AdminError) -> BackupEntry

  /// Reads up to `limit` bytes of the database copy; empty beyond its end.
  func backupPart(_ id: String, from offset: Int64, limit: Int) async throws(AdminError) -> [UInt8]

  /// Deletes the database copy and returns its entry.
  func dropBackup(_ id: String) async throws(AdminError) -> BackupEntry

  /// Encrypts the data keys with a new master key and reports where that key is stored.
  func changeMasterKey() async throws(AdminError) -> Finding

  /// Runs the checks of files, database and machine, and returns their results.
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
        // When the store does not respond, the findings already explain the problem and how to fix it, so the error is
        // not thrown.
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
      // Writes the counters from memory to the store first, so that the copy of the database contains them.
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
      // The time of the backup is recorded only when the client reports that it saved the copy. The client may have
      // been killed, or its disk may be full.
      if try call.parameter("kept") == "true" { await call.noteBackup(entry.created) }
      return .done
    }
  }
}

extension AdminCall {
  /// Writes an audit entry for an action on the database itself, which no transaction of the store performs.
  fileprivate func writeUpkeep(_ action: String, _ subject: String) async {
    await core.audit.write(.operator(`operator`), action, subject)
  }

  /// Stores the time of the latest backup.
  ///
  /// A failure is only logged, because the backup itself is good.
  fileprivate func noteBackup(_ time: Instant) async {
    do throws(StoreError) {
      try await core.store.keepNumbers(String(time.milliseconds), as: .backup)
    } catch {
      core.warnOfUpkeep(error)
    }
  }
}
