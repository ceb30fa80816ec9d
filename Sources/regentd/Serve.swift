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
  // The ports first: a second service says that they are taken before it touches the first one's files.
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
    log.warning("plain-http", ["url": .text(publicURL), "hint": "sign-in is not encrypted"])
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
    // Nobody hears that the service is ready; that is no reason not to serve.
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
      // Looked at again: what was a file may be a pipe by now, and reading it would never end.
      try settings.tls?.check()
      try server.reloadCertificates()
      nextStart.noteLoadedCertificate()
      log.info("reloaded")
    } catch {
      // The old certificates go on; ending the service would help nobody.
      let reason = explained(error)?.message ?? "\(error)"
      log.error(
        "not-reloaded", ["reason": .text(reason), "hint": "the certificate that was loaded before stays in use"])
      status += "; reload failed, the certificate before stays in use: \(reason)"
    }
    manager.ready(status)
  }
  await end(service, of: server, manager, log)
}

/// Ends everything, a little sooner than in the five seconds that were promised: the last line takes time, too.
private func end(_ service: RunningService, of server: Server, _ manager: ServiceManager, _ log: Log) async {
  let began = Clocks.monotonicNanoseconds()
  @Sendable func after(_ milliseconds: UInt64) -> UInt64 { began + milliseconds * 1_000_000 }
  manager.stopping()
  service.letGo()
  let isDrained = Monitor(false)
  // Whoever waits for a database that does not answer is told so, while there is somebody to tell.
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
        "hint": "the database did not answer and was left: what was acknowledged is there, and the name is free in 5 s",
      ])
    // Its threads wait for it in a library that must not be taken down under them.
    Glibc._exit(0)
  }
  log.info("stopped", ["requests": requests])
}

/// Each connection is an open file; the usual soft limit of 1,024 is there for programs that use `select`.
private func engineConfiguration(_ settings: ServiceSettings, _ log: Log) -> ServerConfiguration {
  var engine = settings.engine
  engine.refusalAtPath = ServiceRoutes.engineRefusal
  // The database, the sockets that listen, the log.
  let others = 128
  let limit = OpenFiles.raiseLimit(to: engine.connections + others)
  guard limit < engine.connections + others else { return engine }
  if settings.choseConnections {
    log.warning(
      "open-files",
      [
        "limit": .number(Int64(limit)), "connections": .number(Int64(engine.connections)),
        "hint": "raise LimitNOFILE= of the unit or ulimit -n, or lower --connections",
      ])
  } else {
    // Below that reserve a share: with as many connections as files, the first idle ones would take the last file.
    engine.connections = max(limit - others, limit / 4)
  }
  return engine
}

/// What the service manager is told; that it cannot be told is worth a line in the log and nothing more.
private struct ServiceManager: Sendable {
  private let notification: ServiceNotification?
  private let log: Log

  init(_ notification: ServiceNotification?, _ log: Log) {
    self.notification = notification
    self.log = log
  }

  func ready(_ status: String) { tell { n throws(SystemError) in try n.ready(status: status) } }
  func reloading() { tell { n throws(SystemError) in try n.reloading() } }

  /// A step through many rows takes longer than a start may: five minutes from here on.
  func migrating(_ progress: MigrationProgress) {
    // A part is some hundred rows: told of each, a million would fill the log.
    if progress.parts % 100 == 0 {
      log.info(
        "migrating",
        [
          "step": .text(progress.step), "parts": .number(Int64(progress.parts)),
          "hint": "the database of an earlier version is brought to this one",
        ])
    }
    tell { n throws(SystemError) in
      try n.extendTimeout(by: .seconds(300))
      try n.status("bringing the database to this version: \(progress.step)")
    }
  }

  func stopping() { tell { n throws(SystemError) in try n.stopping() } }

  /// Says that we are alive as often as the manager wants to hear it, as long as every event loop answers: a service
  /// whose loop is stuck serves nobody, and is started again.
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
  /// Whether passwords travel where others could read them.
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

  /// As a browser would open it; a Unix socket as it was given.
  fileprivate func url(isEncrypted: Bool) -> String {
    isLocal ? description : "\(isEncrypted ? "https" : "http")://\(self)"
  }
}
