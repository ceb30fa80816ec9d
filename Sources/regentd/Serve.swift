import CommandKit
import Glibc
import RegentHTTPCodec
import HTTPServer
import PairingService
import RegentPairing
import RegentPlatform
import SQLite

/// Runs the service until a signal ends it.
func serve(_ settings: ServiceSettings, _ console: Console, _ held: HeldSignals) async throws {
  let variables = ProcessEnvironment.all()
  let isJournal = Journal.receives(2, stream: variables["JOURNAL_STREAM"])
  let log = Log(settings.log, to: .impatient(2), isJournal: isJournal)
  try ProcessHardening.apply()
  let signals = try SignalListener.stream(held)
  let manager = ServiceManager(
    try ServiceNotification(environment: variables, processID: getpid()), log)

  let admission = AdmissionHandler()
  let listeners = settings.listen.map { address in
    Listener(
      address, tls: address.isLocal ? nil : settings.tls,
      handler: ForwardedHandler(trusting: settings.proxies, before: admission))
  }
  var engine = engineConfiguration(settings, log)
  let isHTTPS = settings.publicURL.map { $0.scheme == "https" } ?? (settings.tls != nil)
  engine.standingHeaders = standingHeaders(isHTTPS: isHTTPS)
  // The ports are bound first, so that a second service fails before it touches the files of the first.
  let server = try Server(listeners, configuration: engine)
  let addresses = server.addresses.map { $0.url(isEncrypted: settings.tls != nil) }
  log.info(
    "starting",
    [
      "version": .text(regentVersion), "process": .number(Int64(getpid())),
      "connections": .number(Int64(engine.connections)), "threads": .number(Int64(engine.loops)),
    ])
  let publicURL = settings.publicURL?.description ?? addresses[0]
  if settings.isPlainOnTheNetwork {
    log.warning("plain-http", ["url": .text(publicURL), "hint": "passwords are not encrypted on the network"])
  }
  let remarks = settings.remarks(variables: variables.keys)
  for remark in remarks { log.warning("setting", ["reason": .text(remark.message), "hint": .text(remark.hint)]) }
  let nextStart = NextStart(settings, remarks)
  let service: RunningService
  do {
    service = try await RunningService(settings, publicURL: publicURL, of: server, nextStart, log) { progress in
      manager.migrating(progress)
    }
  } catch {
    server.stop(within: .zero)
    throw error
  }
  admission.open(to: service.handler)
  if let metrics = service.metrics {
    log.info("metrics", ["address": .text("\(metrics.addresses[0])")])
  }
  for address in addresses {
    log.info("listening", ["address": .text(address), "url": .text(publicURL)])
    console.print("regentd: listening on \(address)")
  }
  do throws(ConsoleFailure) {
    try console.finish()
  } catch {
    // Standard output is closed, but the service can run without it.
    log.warning("output", ["reason": .text(error.description)])
  }
  manager.ready("listening on \(addresses.joined(separator: ", "))")
  manager.watch(server)

  for await signal in signals {
    if signal != .hangUp {
      log.info("stopping", ["signal": .text(signal == .interrupt ? "INT" : "TERM")])
      break
    }
    manager.reloading()
    var status = "listening on \(addresses.joined(separator: ", "))"
    do {
      // The files are checked again. A path may be a pipe by now, and reading that would block for ever.
      try settings.tls?.check()
      try server.reloadCertificates()
      nextStart.noteLoadedCertificate()
      log.info("reloaded")
    } catch {
      // The old certificate stays in use; ending the service would not help.
      let reason = explained(error)?.message ?? "\(error)"
      log.error(
        "not-reloaded", ["reason": .text(reason), "hint": "the old certificate stays in use"])
      status += "; reload failed, the old certificate stays in use: \(reason)"
    }
    manager.ready(status)
  }
  await end(service, of: server, manager, log)
}

/// Shuts the service down within five seconds, the time that it promises to systemd, and keeps a margin for the last
/// line of the log.
private func end(_ service: RunningService, of server: Server, _ manager: ServiceManager, _ log: Log) async {
  let began = Clocks.monotonicNanoseconds()
  @Sendable func after(_ milliseconds: UInt64) -> UInt64 { began + milliseconds * 1_000_000 }
  manager.stopping()
  service.letGo()
  let isDrained = Monitor(false)
  // Calls that wait for an unresponsive database are failed while their connections are still open.
  _ = try? DedicatedThread.start(named: "giving up") {
    if !isDrained.rest(until: after(3_200)) { service.giveUp() }
  }
  server.stop(within: .milliseconds(3_700))
  isDrained.end()
  let isClosed = await service.close(by: after(4_700))
  let requests = LogValue.number(Int64(server.statistics.requests))
  guard isClosed else {
    log.warning(
      "stopped",
      [
        "requests": requests,
        "hint":
          "the database did not answer and was abandoned: acknowledged changes are stored, the name is free in 5 s",
      ])
    // Threads still wait in the database library, so its destructors must not run.
    Glibc._exit(0)
  }
  log.info("stopped", ["requests": requests])
}

/// The settings of the HTTP server, with a limit of connections that fits the limit of open files.
///
/// The process raises its soft limit of open files, which is often 1,024 only because `select` cannot wait for more;
/// the server does not use `select`.
private func engineConfiguration(_ settings: ServiceSettings, _ log: Log) -> ServerConfiguration {
  var engine = settings.engine
  engine.refusalAtPath = ServiceRoutes.engineRefusal
  // The number of descriptors that the database, the listening sockets and the log need.
  let others = 128
  let limit = OpenFiles.raiseLimit(to: engine.connections + others)
  guard limit < engine.connections + others else { return engine }
  if settings.choseConnections {
    log.warning(
      "open-files",
      [
        "limit": .number(Int64(limit)), "connections": .number(Int64(engine.connections)),
        "hint": "raise LimitNOFILE= in the unit or ulimit -n, or lower --connections",
      ])
  } else {
    // If the limit is very low, connections may use a quarter of it. Otherwise idle connections could take the last
    // descriptor.
    engine.connections = max(limit - others, limit / 4)
  }
  return engine
}

/// Reports to systemd.
///
/// Failures are only logged.
private struct ServiceManager: Sendable {
  private let notification: ServiceNotification?
  private let log: Log

  init(_ notification: ServiceNotification?, _ log: Log) {
    self.notification = notification
    self.log = log
  }

  func ready(_ status: String) { tell { n throws(SystemError) in try n.ready(status: status) } }
  func reloading() { tell { n throws(SystemError) in try n.reloading() } }

  /// Extends the start timeout by five minutes, because migrating many rows takes longer than a start may.
  func migrating(_ progress: MigrationProgress) {
    // One part of a migration is several hundred rows. Reporting each part would fill the log.
    if progress.parts % 100 == 0 {
      log.info(
        "migrating",
        [
          "step": .text(progress.step), "parts": .number(Int64(progress.parts)),
          "hint": "migrating the database of an earlier version",
        ])
    }
    tell { n throws(SystemError) in
      try n.extendTimeout(by: .seconds(300))
      try n.status("migrating the database: \(progress.step)")
    }
  }

  func stopping() { tell { n throws(SystemError) in try n.stopping() } }

  /// Sends systemd's watchdog signal as long as every event loop answers, so that a service with a blocked loop is
  /// restarted.
  func watch(_ server: Server) {
    guard let notification, let interval = notification.watchdogInterval else { return }
    Task {
      while true {
        if server.answersPulse() { try? notification.watchdog() }
        try await Task.sleep(for: interval)
      }
    }
  }

  private func tell(_ message: (ServiceNotification) throws(SystemError) -> Void) {
    guard let notification else { return }
    do throws(SystemError) {
      try message(notification)
    } catch {
      log.warning("service-manager", ["reason": .text(error.description)])
    }
  }
}

extension ServiceSettings {
  /// Whether passwords cross the network unencrypted.
  fileprivate var isPlainOnTheNetwork: Bool {
    if let publicURL { return publicURL.scheme == "http" && !publicURL.host.isLoopback }
    guard tls == nil, case .network(let address, _) = listen[0] else { return false }
    return !address.isLoopback
  }
}

extension ListenAddress {
  fileprivate var isLocal: Bool {
    if case .local = self { true } else { false }
  }

  /// The address of a listener as a browser opens it; a Unix socket as it was given.
  fileprivate func url(isEncrypted: Bool) -> String {
    isLocal ? description : "\(isEncrypted ? "https" : "http")://\(self)"
  }
}
