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

/// The service with its database, and the two servers beside it: the admin socket and the metrics.
struct RunningService {
  /// What answers on the network.
  let handler: any Handler
  /// Where numbers are offered, when somebody wants them.
  let metrics: Server?
  /// Where `regentctl` is answered.
  let admin: Server
  private let core: ServiceCore
  private let store: any OpenedStore
  private let upkeep: Task<Void, Never>

  /// Opens the database and starts everything that is not the network.
  ///
  /// `onMigration` is told while a database of an earlier version is brought to this one.
  init(
    _ settings: ServiceSettings, publicURL: String, of server: Server, _ nextStart: NextStart, _ log: Log,
    onMigration: @escaping @Sendable (MigrationProgress) -> Void
  ) async throws {
    // First, because nothing is to be created for pages that cannot be shown.
    var options = ServiceOptions(publicURL: publicURL)
    let pages = try pages(in: settings.paths.web, base: options.basePath)
    let (store, upkeepOfStore, numbersOfStore) = try openDatabase(settings, nextStart, log, onMigration: onMigration)
    do {
      options.limits = settings.limits
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
        RightTime(
          core, page: phone.unavailable,
          before: RememberedPolls(core, before: try Router(ServiceRoutes.all(core, phone), refuse: phone.refuse))))
      // What one service alone says stays as it is, for the dashboards that there are.
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

  /// Answers everybody who waits, so that no reply is cut.
  func letGo() {
    core.waiters.stop()
    upkeep.cancel()
    metrics?.stop(within: .zero)
    admin.stop(within: .milliseconds(200))
  }

  /// In microseconds.
  private static let patience: UInt32 = 500_000

  /// Tells whoever waits for the database still that there will be no answer.
  func giveUp() { store.giveUp() }

  /// Keeps what was counted and finishes what is being written; nothing may be answered any more.
  ///
  /// - Parameter end: on the monotonic clock; a database that does not answer is left then.
  /// - Returns: whether it was closed.
  func close(by end: UInt64) async -> Bool {
    let (kept, ended) = AsyncStream<Never>.makeStream()
    Task { [core] in
      await Upkeep(core).stop()
      ended.finish()
    }
    // A disk that hangs, or another program that holds the database, must not keep the service from ending. A thread
    // that sleeps for so long, not a timer that is due then: that one never comes when a clock changes under it.
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
      // Sleeps, as above: a wait until a moment comes back at once when a clock has changed under it.
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

/// Opens the database that was named, with what the admin socket does below it and its numbers.
private func openDatabase(
  _ settings: ServiceSettings, _ nextStart: NextStart, _ log: Log,
  onMigration: @escaping @Sendable (MigrationProgress) -> Void
) throws -> (store: any OpenedStore, upkeep: any AdminUpkeep, numbers: @Sendable () -> String) {
  let paths = settings.paths
  if let server = paths.server {
    let store = try openStore(on: server, paths, as: settings.node, holding: nextStart.key) { options in
      options.wakeups = settings.wakeups
      options.onDisplaced = { error in
        // Two of one name would hide each other's work: the service manager starts us again.
        log.error("node-displaced", ["reason": .text(error.description), "hint": .text(error.hint ?? "")])
        Glibc._exit(70)
      }
      options.onStandby = log.trouble(
        "standby-awaited", over: "standby-back",
        hint: "no change is acknowledged until the standby has it; never cancel them: "
          + "bring it back, or empty synchronous_standby_names")
      options.onHearing = log.trouble(
        "bell-unheard", over: "bell-heard",
        hint: "what other nodes write is looked for every 20 ms; behind a pooler: session mode, or the "
          + "port of the server itself; where LISTEN cannot work: --wakeups poll")
      options.onFlood = log.trouble(
        "bell-flooded", over: "bell-heard",
        hint: "somebody rings the nodes' bell (NOTIFY) more often than nodes do; for a minute what other nodes write "
          + "is looked for every 20 ms, then it is listened to again: let nobody else connect to the database")
      options.onMuteness = log.trouble(
        "bell-unrung", over: "bell-rung",
        hint:
          "the server's queue for NOTIFY is full; what other nodes write is looked for every 20 ms: end the session "
          + "that listens and is in a transaction for hours (pg_stat_activity, xact_start)")
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
  let store = try openStore(paths, holding: nextStart.key, onMigration: onMigration) { error in
    // Nobody knows what is on the disk: the service manager starts us again, and reopening tells.
    log.error("store-stopped", ["reason": .text(error.description)])
    Glibc._exit(70)
  }
  return (store, DatabaseUpkeep(paths, store, nextStart), { exposition(store.statistics) })
}

/// The phone's pages, with every mistake in them found now and not when somebody opens one.
func pages(in folder: String, base: String = "") throws -> PhonePages {
  do {
    return try PhonePages(WebFiles(readingFolder: folder), base: base)
  } catch let error as WebFileError {
    throw CommandError(
      error.description,
      hint: "repair the file, or use the folder of this version: --web FOLDER")
  }
}

/// What was changed behind the service's back while it was stopped.
private func reportTamperedRows(_ store: any OpenedStore, _ log: Log) async {
  if let bad = try? await store.verifyRows(step: rowsInStep), bad > 0 {
    log.error(
      "rows-changed",
      ["count": .number(Int64(bad)), "hint": "rows were changed from outside: see the audit log"])
  }
  if let gaps = try? await store.auditProblems(step: rowsInStep), let first = gaps.first {
    log.error(
      "audit-broken",
      [
        "reason": .text(first), "count": .number(Int64(gaps.count)),
        "hint": "lines were removed from outside: compare with the last backup",
      ])
  }
}
