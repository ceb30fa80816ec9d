import CommandKit
import Glibc
import HTTPServer
import PairingService
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPairing
import RegentPlatform
import SQLite

/// The service with its database, and the servers for the admin socket and the metrics.
struct RunningService {
  /// The handler that answers requests from the network.
  let handler: any Handler
  /// The metrics server, if one is configured.
  let metrics: Server?
  /// The server of the admin socket.
  let admin: Server
  private let core: ServiceCore
  private let store: any OpenedStore
  private let upkeep: Task<Void, Never>

  /// Opens the database and starts everything except the network listeners.
  ///
  /// `onMigration` reports the progress while an older database is migrated.
  init(
    _ settings: ServiceSettings, publicURL: String, of server: Server, _ nextStart: NextStart, _ log: Log,
    onMigration: @escaping @Sendable (MigrationProgress) -> Void
  ) async throws {
    // The pages are loaded first, so that nothing is created if they cannot be shown.
    var options = ServiceOptions(publicURL: publicURL)
    let pages = try pages(in: settings.paths.web, base: options.basePath)
    let (store, upkeepOfStore, numbersOfStore) = try openDatabase(settings, nextStart, log, onMigration: onMigration)
    do {
      options.limits = settings.limits
      options.limits.longPolls = server.connections - max(1, server.connections / 32)
      options.auditRetention = settings.auditRetention
      options.version = regentVersion
      options.node = settings.node
      options.port = server.addresses.lazy.compactMap(\.port).first
      let core = try await ServiceCore(options, store: store, log: ServiceLog(log))
      let follower = NodeFollower(core)
      let position = try await follower.catchUp()
      let phone = try await Phone(core, pages)
      handler = PathPrefixHandler(
        options.basePath,
        ClockGuard(
          core, page: phone.unavailable,
          before: RememberedPolls(core, before: try Router(ServiceRoutes.all(core, phone), refuse: phone.refuse))))
      // A single service without a name exports metrics without a node label, as existing dashboards expect.
      let node = settings.paths.server != nil || settings.isNodeNamed ? settings.node : nil
      let numbers: @Sendable () -> String = {
        let text = exposition(server.statistics) + numbersOfStore() + core.metricsText()
        return node.map { labelled(text, node: $0) } ?? text
      }
      let admin = try adminServer(
        settings.paths, core, upkeepOfStore, metrics: numbers)
      do {
        metrics = try settings.metricsListen.map { try metricsServer(on: $0, publicURL: publicURL, numbers) }
      } catch {
        admin.stop(within: .zero)
        throw error
      }
      self.admin = admin
      self.core = core
      self.store = store
      upkeep = Task {
        async let following: Void = follower.run(from: position)
        async let watching: Void = nextStart.watch(store, core, log)
        await reportTamperedRows(store, log)
        await Upkeep(core).run()
        await following
        await watching
      }
    } catch {
      store.close()
      throw error
    }
  }

  /// Ends all long polls, so that no reply is cut.
  func letGo() {
    core.waiters.stop()
    upkeep.cancel()
    metrics?.stop(within: .zero)
    admin.stop(within: .milliseconds(200))
  }

  /// How long a stop waits for the counters to be stored, in microseconds.
  ///
  /// The thread that waits for the database sleeps a tenth of it in each step.
  private static let patience: UInt32 = 500_000

  /// Fails the calls that still wait for the database.
  func giveUp() { store.giveUp() }

  /// Stores the counters and completes pending writes.
  ///
  /// No request may be answered afterwards.
  ///
  /// - Parameter end: the deadline on the monotonic clock; a database that does not answer by then is abandoned.
  /// - Returns: whether the database was closed.
  func close(by end: UInt64) async -> Bool {
    let (kept, ended) = AsyncStream<Never>.makeStream()
    Task { [core] in
      await Upkeep(core).stop()
      ended.finish()
    }
    // A blocked disk or another program that locks the database must not keep the service from ending. A sleeping
    // thread is used and no timer, because a timer may never fire if the clock is changed.
    let sleeper = try? DedicatedThread.start(named: "closing") {
      usleep(Self.patience)
      ended.finish()
    }
    if sleeper != nil { for await _ in kept {} }
    let (closing, closed) = AsyncStream<Bool>.makeStream()
    @Sendable func tell(_ isClosed: Bool) {
      closed.yield(isClosed)
      closed.finish()
    }
    let closer = try? DedicatedThread.start(named: "closing") { [store] in
      store.close()
      tell(true)
    }
    guard closer != nil else {
      store.close()
      return true
    }
    _ = try? DedicatedThread.start(named: "closing") {
      // Sleeps in short steps until `end` on the monotonic clock. A wait until a time of the wall clock would end early
      // if the clock is set forward.
      while Clocks.monotonicNanoseconds() < end { usleep(Self.patience / 10) }
      tell(false)
    }
    for await isClosed in closing { return isClosed }
    return false
  }
}

extension ListenAddress {
  fileprivate var port: UInt16? {
    if case .network(_, let port) = self { port } else { nil }
  }
}

/// Opens the configured database, with its administrative work and its metrics.
private func openDatabase(
  _ settings: ServiceSettings, _ nextStart: NextStart, _ log: Log,
  onMigration: @escaping @Sendable (MigrationProgress) -> Void
) throws -> (store: any OpenedStore, upkeep: any AdminUpkeep, numbers: @Sendable () -> String) {
  let paths = settings.paths
  if let server = paths.server {
    let store = try openStore(on: server, paths, as: settings.node, holding: nextStart.key) { options in
      options.wakeups = settings.wakeups
      options.onDisplaced = { error in
        // Two nodes with the same name would hide each other's changes. The process exits, and systemd restarts it.
        log.error("node-displaced", ["reason": .text(error.description), "hint": .text(error.hint ?? "")])
        Glibc._exit(70)
      }
      options.onStandby = log.trouble(
        "standby-awaited", over: "standby-back",
        hint: "no change is acknowledged until the standby has it; never cancel waiting commits: "
          + "bring it back, or empty synchronous_standby_names")
      options.onHearing = log.trouble(
        "bell-unheard", over: "bell-heard",
        hint: "polling for other nodes' changes every 20 ms; behind a pooler use session mode or the "
          + "server's own port; if LISTEN cannot work, use --wakeups poll")
      options.onFlood = log.trouble(
        "bell-flooded", over: "bell-heard",
        hint:
          "another program sends NOTIFY on the nodes' channel; for a minute this node polls for other nodes' changes "
          + "every 20 ms, then it listens again: allow only the service to connect to the database")
      options.onMuteness = log.trouble(
        "bell-unrung", over: "bell-rung",
        hint:
          "the server's NOTIFY queue is full; polling for other nodes' changes every 20 ms: end the session "
          + "whose transaction is hours old (pg_stat_activity, xact_start)")
    }
    return (
      store, ServerUpkeep(paths, store, nextStart),
      {
        databaseAway(store.awayFor) + standbyAwaited(store.awaitsStandby)
          + bellUnheard(store.isDeaf || store.isFlooded || store.isMute)
          + exposition(store.numbers)
      }
    )
  }
  let store = try openStore(paths, isOfService: true, holding: nextStart.key, onMigration: onMigration) { error in
    // It is unknown what is on the disk. The process exits, and the restart reads the disk again.
    log.error("store-stopped", ["reason": .text(error.description)])
    Glibc._exit(70)
  }
  return (store, DatabaseUpkeep(paths, store, nextStart), { exposition(store.statistics) })
}

/// Loads all pages, so that mistakes are found at the start and not at the first request.
func pages(in folder: String, base: String = "") throws -> PhonePages {
  do {
    return try PhonePages(WebFiles(readingFolder: folder), base: base)
  } catch let error as WebFileError {
    throw CommandError(
      error.description,
      hint: "repair the file, or use the folder of this version: --web FOLDER")
  }
}

/// Logs rows and audit lines that another program changed while the service was stopped.
private func reportTamperedRows(_ store: any OpenedStore, _ log: Log) async {
  if let bad = try? await store.verifyRows(step: rowsInStep), bad > 0 {
    log.error(
      "rows-changed",
      ["count": .number(Int64(bad)), "hint": "another program changed rows: see the audit log"])
  }
  if let gaps = try? await store.auditProblems(step: rowsInStep), let first = gaps.first {
    log.error(
      "audit-broken",
      [
        "reason": .text(first), "count": .number(Int64(gaps.count)),
        "hint": "another program removed lines: compare with the last backup",
      ])
  }
}
