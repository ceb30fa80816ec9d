import Administration
import CommandKit
import PairingService
import PairingStore
import PairingStorePostgreSQL
import RegentPairing
import RegentPlatform

/// Administrative work on a database on a server: backups, the master key, checks.
actor ServerUpkeep: AdminUpkeep {
  private let paths: ServicePaths
  private let store: PostgreSQLStore
  private let nextStart: NextStart
  private var copy: WaitingCopy?
  private var room: DatabaseCopy?
  private let turn = MaintenanceLock()

  init(_ paths: ServicePaths, _ store: PostgreSQLStore, _ nextStart: NextStart) {
    self.paths = paths
    self.store = store
    self.nextStart = nextStart
  }

  // MARK: - Copies

  func makeBackup() async throws(AdminError) -> BackupEntry {
    try await turn.take { () throws(AdminError) in
      discard()
      let room = DatabaseCopy(in: ProcessEnvironment.all()["TMPDIR"])
      do {
        let entry = BackupEntry(
          try await backup(paths, into: room).file, created: Instant(milliseconds: Clocks.wallMilliseconds()))
        self.room = room
        copy = WaitingCopy(entry: entry, path: room.path)
        return entry
      } catch {
        room.remove()
        throw AdminError(copying: error)
      }
    }
  }

  func backupPart(_ id: String, from offset: Int64, limit: Int) async throws(AdminError) -> [UInt8] {
    try copy.named(id).part(from: offset, limit: limit)
  }

  func dropBackup(_ id: String) async throws(AdminError) -> BackupEntry {
    let entry = try copy.named(id).entry
    discard()
    return entry
  }

  private func discard() {
    room?.remove()
    (room, copy) = (nil, nil)
  }

  // MARK: - The master key

  func changeMasterKey() async throws(AdminError) -> Finding {
    try await turn.take { () throws(AdminError) in
      do {
        return masterKeyChanged(paths, kept: try await MasterKeyFile(paths).change(of: store, nextStart.key))
      } catch {
        let said = explained(error)
        throw AdminError(.failed, said?.message ?? "\(error)", hint: said?.hint)
      }
    }
  }

  // MARK: - Checks

  func findings() async -> [Finding] {
    var findings: [Finding] = []
    do {
      findings += Self.findings(of: try await store.server())
      findings += hearingFindings()
      findings += try await writingFindings()
      findings += try await rowFindings(
        of: store, whoWrote: "check which roles can write to the database; an earlier backup may have what is missing")
    } catch {
      findings.append(
        Finding(
          "database", .bad, "\(error)", fix: "check that the server runs and admits this role: pg_isready, psql"))
    }
    findings += await nextStart.findings(of: store)
    return findings
  }

  /// Whether changes can be written, and how long that takes.
  private func writingFindings() async throws(StoreError) -> [Finding] {
    do throws(StoreError) {
      try await store.lookForRoom()
      guard let span = try await store.durationOfWrite() else { return standbyFindings() }
      return Self.findings(ofWritingIn: span)
    } catch .diskFull {
      return [
        Finding(
          "disk", .bad, "the database server's disk is full: the service can write nothing",
          fix: "free space there; the service then continues by itself: df -h")
      ]
    }
  }

  /// Findings about changes that wait for the standby.
  private func standbyFindings() -> [Finding] {
    guard store.awaitsStandby else { return [] }
    return [
      Finding(
        "standby", .bad, "changes wait for the synchronous standby, which does not answer",
        fix: "start the standby, or empty synchronous_standby_names on the primary; never cancel waiting commits")
    ]
  }

  /// Findings about the duration of a trial write.
  static func findings(ofWritingIn span: Duration) -> [Finding] {
    guard span >= slow else { return [] }
    return [
      Finding(
        "database-speed", .warning,
        "a commit took \(span.wholeMilliseconds) ms, and the nodes commit one after the other",
        fix: "check the server's disk, its standby and the network; pg_stat_activity shows what waits")
    ]
  }

  /// How long a write must take to count as slow.
  ///
  /// Every new code, approval and authorization waits for such a write.
  private static let slow: Duration = .milliseconds(250)
  /// How long a transaction must last to be reported.
  ///
  /// The service's own transactions take milliseconds, and the service abandons them after ten seconds.
  private static let standing: Duration = .seconds(10)

  /// Findings about whether notifications from other nodes arrive.
  private func hearingFindings() -> [Finding] {
    guard !store.isFlooded else {
      return [
        Finding(
          "wakeups", .warning,
          "another program sends NOTIFY on the nodes' channel; nodes poll every 20 ms instead",
          fix: "allow only the service to connect to the database; pg_stat_activity lists the sessions")
      ]
    }
    guard !store.isMute else {
      return [
        Finding(
          "wakeups", .warning,
          "the server's NOTIFY queue is full; nodes poll every 20 ms instead",
          fix: "end the session whose transaction is hours old: SELECT pid, usename, xact_start FROM "
            + "pg_stat_activity ORDER BY xact_start LIMIT 1, then pg_terminate_backend")
      ]
    }
    guard store.isDeaf else { return [] }
    return [
      Finding(
        "wakeups", .warning, "LISTEN does not receive other nodes' notifications; nodes poll every 20 ms instead",
        fix: "behind a pooler, use session mode or the server's own port; if LISTEN cannot work, use --wakeups poll"
      )
    ]
  }

  /// Findings about the database server's settings and state.
  static func findings(of server: ServerFacts) -> [Finding] {
    var found = [Finding("database", .good, "PostgreSQL \(server.version) answers")]
    if !server.isDurable {
      found.append(
        Finding(
          "durability", .bad,
          "the server may lose acknowledged changes: fsync, full_page_writes or "
            + "synchronous_commit is off", fix: "switch all three on, in postgresql.conf and for this role"))
    }
    found += standbyFindings(of: server)
    if let fix = server.revocation {
      found.append(
        Finding(
          "database-rights", .warning,
          "every role of the server may connect to the database, send NOTIFY and take locks",
          fix: fix))
    }
    if let fix = server.schemaRevocation {
      found.append(
        Finding(
          "database-rights", .warning,
          "every role of the server may create functions in the schema of the tables, which this service could run",
          fix: fix))
    }
    if let ending = server.ending {
      found.append(
        Finding(
          "database-locks", .bad,
          "\(server.strangers.joined(separator: ", ")) has no write access, but holds a lock of this service: nodes "
            + "continue without it, and copies that need the database alone are refused",
          fix: "\(ending); then allow only the service to connect to the database"))
    }
    if server.isPooled {
      found.append(
        Finding(
          "pooler", .warning, "there is a connection pooler between this service and the server",
          fix: "use the pooler's session mode, or connect to the server's own port"))
    }
    if server.oldestTransaction > standing {
      found.append(
        Finding(
          "lanes", .bad,
          "a transaction has been open for \(server.oldestTransaction.components.seconds) s: all other changes wait "
            + "for it",
          fix: "pg_stat_activity shows what it waits for; SyncRep means the standby"))
    }
    if server.clockAhead > apart || server.clockAhead < .zero - apart {
      let seconds = abs(server.clockAhead.components.seconds)
      found.append(
        Finding(
          "database-clock", Duration.seconds(seconds) > NodeClocks.bound ? .bad : .warning,
          "the clocks of this machine and the database server differ by \(seconds) s",
          fix: "use the same time server on both machines: timedatectl timesync-status"))
    }
    return found
  }

  /// The difference between two clocks from which on `doctor` reports it.
  ///
  /// Signed calls are valid for minutes, and codes, leases and permits expire by the clock of the node that checks
  /// them.
  private static let apart: Duration = .seconds(1)

  /// Findings about whether a standby database server has the changes that were reported as committed, as far as this
  /// database role may see.
  private static func standbyFindings(of server: ServerFacts) -> [Finding] {
    let name = "standby"
    func names(_ standbys: [ServerFacts.Standby]) -> String {
      standbys.map { $0.name.isEmpty ? "a standby without a name" : $0.name }.joined(separator: ", ")
    }
    let asynchronous = server.standbys.filter { $0.streams && $0.sync == "async" }
    let others = asynchronous.isEmpty ? "" : "; not synchronous: \(names(asynchronous))"
    guard server.wantsSynchronousStandby else {
      return [
        Finding(
          name, .warning,
          "there is no synchronous standby: if the server is lost, its latest changes are lost, too\(others)",
          fix: "set synchronous_standby_names to a standby: see postgresql.md (package regent-doc)")
      ]
    }
    guard !server.standbys.isEmpty else {
      return [
        Finding(
          name, .bad, "synchronous_standby_names is set, but no standby is connected: all changes wait",
          fix: "start the standby, or empty synchronous_standby_names on the primary; never cancel waiting commits")
      ]
    }
    guard server.standbys.contains(where: { $0.state != nil }) else {
      return [
        Finding(
          name, .good, "commits wait for a standby; this role may not see whether \(names(server.standbys)) streams",
          fix: "to see it, GRANT pg_read_all_stats to the service's role")
      ]
    }
    let lagging = server.standbys.filter { !$0.streams }.map { standby in
      Finding(
        name, .warning, "\(names([standby])) does not stream: it is in the state “\(standby.state ?? "unknown")”",
        fix: "check its log and the network; pg_stat_replication shows its position")
    }
    let safe = server.standbys.filter { $0.streams && $0.isSynchronous }
    guard !safe.isEmpty else {
      return [
        Finding(
          name, .bad, "no synchronous standby is streaming\(others)",
          fix: "put a streaming standby's application_name into synchronous_standby_names, or start the standby")
      ] + lagging
    }
    return [Finding(name, .good, "\(names(safe)) has all acknowledged changes\(others)")] + lagging
  }
}

/// A sentence about rows whose signature is invalid.
func changedRows(_ count: Int) -> String {
  count == 1
    ? "1 row was changed by another program and is ignored"
    : "\(count) rows were changed by another program and are ignored"
}

/// Findings about rows and the audit log, for both kinds of databases.
func rowFindings(of store: any OpenedStore, whoWrote: String) async throws(StoreError) -> [Finding] {
  let bad = try await store.verifyRows(step: rowsInStep)
  let gaps = try await store.auditProblems(step: rowsInStep)
  return [
    bad == 0
      ? Finding("rows", .good, "all signatures are valid")
      : Finding(
        "rows", .bad, changedRows(bad),
        fix: "list them: regentctl audit export | grep row.tampered; then restore a backup"),
    gaps.isEmpty
      ? Finding("audit", .good, "the audit log is complete")
      : Finding(
        "audit", .bad, "the audit log was changed by another program: \(gaps.prefix(3).joined(separator: ", "))",
        fix: whoWrote),
  ]
}

/// The finding that reports a completed change of the master key.
func masterKeyChanged(_ paths: ServicePaths, kept: String) -> Finding {
  Finding(
    "master-key", .good,
    "the master key was changed: \(paths.masterKey) is the new one, \(kept) the old one, which older backups need")
}

extension BackupEntry {
  fileprivate init(_ file: (size: Int64, hash: String), created: Instant) {
    self.init(id: newCopyName(), size: file.size, sha256: file.hash, created: created)
  }
}
