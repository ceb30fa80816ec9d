import Administration
import CommandKit
import PairingService
import PairingStore
import PairingStorePostgreSQL
import RegentPairing
import RegentPlatform

/// What the admin socket does below a store on a server: copies of everything in it, the master key, checks.
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
        of: store, whoWrote: "find out which roles can write the database; an earlier backup may hold what is missing")
    } catch {
      findings.append(
        Finding(
          "database", .bad, "\(error)", fix: "see whether the server runs and lets this role in: pg_isready, psql"))
    }
    findings += await nextStart.findings(of: store)
    return findings
  }

  /// Whether anything can be written, and how long that takes.
  private func writingFindings() async throws(StoreError) -> [Finding] {
    do throws(StoreError) {
      try await store.lookForRoom()
      // A trial would wait as well, and be told after seconds that nobody knows.
      guard !store.awaitsStandby, let span = try await trial() else { return standbyFindings() }
      return Self.findings(ofWritingIn: span)
    } catch .diskFull {
      return [
        Finding(
          "disk", .bad, "the disk of the database's server is full: nothing can be written",
          fix: "make room there, writing goes on by itself: df -h")
      ]
    }
  }

  /// How long a change takes; nothing when it waits for the standby.
  private func trial() async throws(StoreError) -> Duration? {
    let outcome = Locked<Result<Duration, StoreError>?>(nil)
    Task { [store] in
      let began = Clocks.monotonicNanoseconds()
      do throws(StoreError) {
        try await store.tryWriting()
        outcome.withLock { $0 = .success(.nanoseconds(Int64(Clocks.monotonicNanoseconds() - began))) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
    }
    while true {
      if let outcome = outcome.withLock({ $0 }) { return try outcome.get() }
      if store.awaitsStandby { return nil }
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Whether changes get through to the standby.
  private func standbyFindings() -> [Finding] {
    guard store.awaitsStandby else { return [] }
    return [
      Finding(
        "standby", .bad, "changes wait for the standby: none is acknowledged until it has them",
        fix: "bring it back, or empty synchronous_standby_names on the primary; never cancel what waits")
    ]
  }

  /// What is to be said of how long a change took.
  static func findings(ofWritingIn span: Duration) -> [Finding] {
    guard span >= slow else { return [] }
    return [
      Finding(
        "database-speed", .warning,
        "a change took \(span.wholeMilliseconds) ms until it was safe, and nodes take turns",
        fix: "see the server's disk, its standby and the way there: pg_stat_activity names what waits")
    ]
  }

  /// What a disk is slow from on, too: every new code, approval and permit waits for so long.
  private static let slow: Duration = .milliseconds(250)
  /// A service's transactions are over in milliseconds, and given up after ten seconds.
  private static let standing: Duration = .seconds(10)

  /// Whether this node hears the others in time.
  private func hearingFindings() -> [Finding] {
    guard !store.isFlooded else {
      return [
        Finding(
          "wakeups", .warning,
          "somebody rings the nodes' bell (NOTIFY) more often than nodes do; they are looked at every 20 ms",
          fix: "let nobody else connect to the database; pg_stat_activity names who is connected")
      ]
    }
    guard !store.isMute else {
      return [
        Finding(
          "wakeups", .warning,
          "the server's queue for the nodes' bell (NOTIFY) is full; they are looked at every 20 ms",
          fix: "end the session that listens and is in a transaction for hours: SELECT pid, usename, xact_start FROM "
            + "pg_stat_activity ORDER BY xact_start LIMIT 1, then pg_terminate_backend")
      ]
    }
    guard store.isDeaf else { return [] }
    return [
      Finding(
        "wakeups", .warning, "the bell that nodes ring for each other is not heard; they are looked at every 20 ms",
        fix: "behind a pooler: session mode, or the port of the server itself; where LISTEN cannot work: --wakeups poll"
      )
    ]
  }

  /// What is to be said of the server.
  static func findings(of server: ServerFacts) -> [Finding] {
    var found = [Finding("database", .good, "PostgreSQL \(server.version) answers")]
    if !server.isDurable {
      found.append(
        Finding(
          "durability", .bad,
          "the server may lose what it has acknowledged: fsync, full_page_writes or "
            + "synchronous_commit is off", fix: "set all three on, in postgresql.conf and for this role"))
    }
    found += standbyFindings(of: server)
    if let fix = server.revocation {
      found.append(
        Finding(
          "database-rights", .warning,
          "every role of the server may connect to the database: whoever does can ring the nodes' bell and take locks",
          fix: fix))
    }
    if let ending = server.ending {
      found.append(
        Finding(
          "database-locks", .bad,
          "\(server.strangers.joined(separator: ", ")) may not write here and holds a lock of services and copies: services "
            + "go on without it, and no copy that needs the database alone is made",
          fix: "\(ending); then let nobody else connect to the database"))
    }
    if server.isPooled {
      found.append(
        Finding(
          "pooler", .warning, "a pooler stands between this service and the server",
          fix: "let it give each client a connection of its own (session mode), or name the port of the server itself"))
    }
    if server.oldestTransaction > standing {
      found.append(
        Finding(
          "lanes", .bad,
          "a transaction has been open for \(server.oldestTransaction.components.seconds) s: every other change waits "
            + "for it",
          fix: "see what it waits for, in pg_stat_activity: SyncRep is the standby"))
    }
    if server.clockAhead > apart || server.clockAhead < .zero - apart {
      let seconds = abs(server.clockAhead.components.seconds)
      found.append(
        Finding(
          "database-clock", Duration.seconds(seconds) > NodeClocks.bound ? .bad : .warning,
          "the clocks of this machine and the server are \(seconds) s apart",
          fix: "let both follow the same time server: timedatectl timesync-status"))
    }
    return found
  }

  /// Signatures are good for minutes, and codes, leases and permits end by the clock of whoever looks.
  private static let apart: Duration = .seconds(1)

  /// Whether another server has what is acknowledged, as far as this role may see.
  private static func standbyFindings(of server: ServerFacts) -> [Finding] {
    let name = "standby"
    func names(_ standbys: [ServerFacts.Standby]) -> String {
      standbys.map { $0.name.isEmpty ? "one without a name" : $0.name }.joined(separator: ", ")
    }
    let asynchronous = server.standbys.filter { $0.streams && $0.sync == "async" }
    let others = asynchronous.isEmpty ? "" : "; not synchronous: \(names(asynchronous))"
    guard server.wantsSynchronousStandby else {
      return [
        Finding(
          name, .warning,
          "there is no synchronous standby: when the server is lost, so is what it acknowledged last\(others)",
          fix: "set synchronous_standby_names to a standby: see postgresql.md (package regent-doc)")
      ]
    }
    guard !server.standbys.isEmpty else {
      return [
        Finding(
          name, .bad, "synchronous_standby_names is set, and no standby is connected: changes wait for it",
          fix: "bring it back, or empty synchronous_standby_names on the primary; never cancel what waits")
      ]
    }
    guard server.standbys.contains(where: { $0.state != nil }) else {
      return [
        Finding(
          name, .good, "changes wait for a standby; whether \(names(server.standbys)) streams, this role may not see",
          fix: "GRANT pg_read_all_stats to the role of the service")
      ]
    }
    let lagging = server.standbys.filter { !$0.streams }.map { standby in
      Finding(
        name, .warning, "\(names([standby])) does not stream: it is in the state “\(standby.state ?? "unknown")”",
        fix: "see its log and the way to it; pg_stat_replication says how far it is")
    }
    let safe = server.standbys.filter { $0.streams && $0.isSynchronous }
    guard !safe.isEmpty else {
      return [
        Finding(
          name, .bad, "no standby that changes wait for streams\(others)",
          fix: "name one that streams in synchronous_standby_names (its application_name), or bring it back")
      ] + lagging
    }
    return [Finding(name, .good, "\(names(safe)) has what is acknowledged\(others)")] + lagging
  }
}

/// What is said of rows whose signature is not theirs.
func changedRows(_ count: Int) -> String {
  count == 1
    ? "1 row was changed from outside and does not count"
    : "\(count) rows were changed from outside and do not count"
}

/// What is to be said of rows and log, whatever the database is.
func rowFindings(of store: any OpenedStore, whoWrote: String) async throws(StoreError) -> [Finding] {
  let bad = try await store.verifyRows(step: rowsInStep)
  let gaps = try await store.auditProblems(step: rowsInStep)
  return [
    bad == 0
      ? Finding("rows", .good, "every row is signed as it must be")
      : Finding(
        "rows", .bad, changedRows(bad),
        fix: "regentctl audit export | grep row.tampered says which; restore a backup"),
    gaps.isEmpty
      ? Finding("audit", .good, "the audit log is whole")
      : Finding(
        "audit", .bad, "the audit log was changed from outside: \(gaps.prefix(3).joined(separator: ", "))",
        fix: whoWrote),
  ]
}

/// What is said after a change of the master key.
func masterKeyChanged(_ paths: ServicePaths, kept: String) -> Finding {
  Finding(
    "master-key", .good,
    "the master key was changed: \(paths.masterKey) holds the new one, \(kept) the old one, which older backups need")
}

extension BackupEntry {
  fileprivate init(_ file: (size: Int64, hash: String), created: Instant) {
    self.init(id: newCopyName(), size: file.size, sha256: file.hash, created: created)
  }
}
