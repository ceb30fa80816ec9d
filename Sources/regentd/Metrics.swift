import RegentHTTPCodec
import HTTPServer
import PairingService
import PairingStorePostgreSQL
import RegentPairing
import RegentPlatform
import RegentSQL
import SQLite

/// A server of its own for numbers: what watches the service must not be open to whom it serves.
///
/// The name in `publicURL` is one that this machine is known by.
func metricsServer(
  on address: ListenAddress, publicURL: String, _ text: @escaping @Sendable () -> String
) throws -> Server {
  let hosts = MetricsHosts(address, publicURL: publicURL)
  var routes = Routes()
  routes.get("/metrics") { request, _ in
    guard hosts.accept(request.authority) else {
      return .now(
        .text(.misdirectedRequest, "wrong Host header: use an address or a name of this machine\n"))
    }
    var response = Response(
      .ok, type: "text/plain; version=0.0.4; charset=utf-8",
      body: Array(text().utf8))
    response.addHeader(.cacheControl, "no-store")
    return .now(response)
  }
  var configuration = ServerConfiguration()
  configuration.loops = 1
  configuration.connections = 64
  return try Server(
    [Listener(address, handler: try Router(routes, refuse: ServiceRoutes.refuse))],
    configuration: configuration)
}

/// The hosts under which the metrics may be read.
///
/// Any page can point a name of its own at this listener (DNS rebinding), and the browser then lets the page read what
/// it answers. An address and the machine's own names cannot be pointed at another machine by a stranger.
struct MetricsHosts {
  private let address: ListenAddress
  private let names: Set<HostName>

  init(_ address: ListenAddress, publicURL: String) {
    self.address = address
    let machine = machineName()
    // `NAME.local` is what mDNS calls this machine.
    let own = machine.map { [$0, "\($0.prefix { $0 != "." })", "\($0.prefix { $0 != "." }).local"] } ?? []
    names = Set(
      own.compactMap { HostName(parsing: $0) } + [.name("localhost")]
        + [(try? AbsoluteURL(parsing: publicURL))?.host].compactMap(\.self))
  }

  /// Whether a request for this `Host` is answered; only HTTP/1.0, which no browser speaks, has none.
  func accept(_ authority: String?) -> Bool {
    // Browsers reach neither a Unix socket nor one of the service manager's by another machine's name.
    guard case .network(let own, _) = address, let authority else { return true }
    guard let host = HostAndPort(parsing: authority)?.host else { return false }
    if names.contains(host) { return true }
    guard case .address(let asked) = host else { return false }
    return own.isUnspecified || asked == own || (own.isLoopback && asked.isLoopback)
  }
}

/// The numbers as Prometheus reads them.
func exposition(_ numbers: Statistics) -> String {
  let counters: [(name: String, help: String, value: Int)] = [
    ("http_connections_accepted_total", "Connections accepted.", numbers.accepted),
    ("http_requests_total", "Requests handed to handlers.", numbers.requests),
    ("http_requests_refused_total", "Requests refused as malformed or too large.", numbers.refused),
    (
      "http_connections_shed_total", "Connections closed because there were too many.", numbers.shed
    ),
    (
      "http_connections_evicted_total", "Idle connections closed to make room for others.",
      numbers.evicted
    ),
    ("http_connections_timed_out_total", "Connections cut by a deadline.", numbers.timedOut),
    ("http_replies_abandoned_total", "Replies whose client went away.", numbers.abandoned),
    ("http_replies_faulty_total", "Replies replaced by a 500.", numbers.faulty),
    ("http_handshakes_failed_total", "TLS handshakes that failed.", numbers.failedHandshakes),
    (
      "http_accept_pauses_total", "Times accepting paused for want of descriptors.",
      numbers.acceptPauses
    ),
  ]
  let lines = counters.map { counter in
    "# HELP regent_\(counter.name) \(counter.help)\n# TYPE regent_\(counter.name) counter\n"
      + "regent_\(counter.name) \(counter.value)\n"
  }
  return lines.joined() + "# HELP regent_http_connections_open Connections open now.\n"
    + "# TYPE regent_http_connections_open gauge\nregent_http_connections_open \(numbers.open)\n"
}

/// What the database has done, as Prometheus reads it.
func exposition(_ numbers: DatabaseStatistics) -> String {
  commits(numbers.commitMicroseconds, of: numbers.batchSizes, failed: numbers.rollbacks, full: numbers.diskFull)
    + "# HELP regent_log_pages Pages in the write-ahead log.\n# TYPE regent_log_pages gauge\n"
    + "regent_log_pages \(numbers.logPages)\n"
}

/// What a database on a server has done, as Prometheus reads it; its log is the server's own.
func exposition(_ numbers: WriteNumbers) -> String {
  commits(numbers.commitMicroseconds, of: numbers.batchSizes, failed: numbers.rollbacks, full: numbers.diskFull)
}

private func commits(_ microseconds: Histogram, of batches: Histogram, failed: Int, full: Int) -> String {
  microseconds.exposition(
    "commit_seconds", "How long a commit took until it was on the disk.",
    // 64 µs to 8 s: from a fast disk to one that is about to fail.
    bounds: (6...23).map { (bits: $0, label: seconds(microseconds: 1 << $0)) },
    sum: seconds(microseconds: microseconds.sum))
    + batches.exposition(
      "commit_requests", "Changes that one commit made durable.",
      bounds: (1...8).map { (bits: $0, label: String((1 << $0) - 1)) },
      sum: String(batches.sum))
    + [
      ("commits_failed_total", "Commits that were given up as a whole.", failed),
      ("disk_full_total", "How often the disk was found full.", full),
    ].map { name, help, value in
      "# HELP regent_\(name) \(help)\n# TYPE regent_\(name) counter\nregent_\(name) \(value)\n"
    }.joined()
}

extension Histogram {
  /// A histogram as Prometheus reads it; each bound counts what lies below the power of two with so many bits.
  fileprivate func exposition(
    _ name: String, _ help: String, bounds: [(bits: Int, label: String)], sum: String
  ) -> String {
    var text = "# HELP regent_\(name) \(help)\n# TYPE regent_\(name) histogram\n"
    for bound in bounds {
      let below = buckets.prefix(bound.bits + 1).reduce(0, +)
      text += "regent_\(name)_bucket{le=\"\(bound.label)\"} \(below)\n"
    }
    text += "regent_\(name)_bucket{le=\"+Inf\"} \(count)\n"
    return text + "regent_\(name)_sum \(sum)\nregent_\(name)_count \(count)\n"
  }
}

/// Seconds with their six decimals: no rounding, and no exponent that a reader may not know.
private func seconds(microseconds: Int) -> String {
  let fraction = String(microseconds % 1_000_000)
  let zeros = String(repeating: "0", count: 6 - fraction.count)
  return "\(microseconds / 1_000_000).\(zeros)\(fraction)"
}

/// How long the database server has not answered, as Prometheus reads it.
func databaseAway(_ duration: Duration?) -> String {
  let seconds = (duration ?? .zero).components.seconds
  return "# HELP regent_database_away_seconds For how long the database server has not answered.\n"
    + "# TYPE regent_database_away_seconds gauge\nregent_database_away_seconds \(seconds)\n"
}

/// Whether a change waits for the standby, as Prometheus reads it.
func standbyAwaited(_ isAwaited: Bool) -> String {
  "# HELP regent_standby_awaited Whether a change has waited for the standby for more than a second.\n"
    + "# TYPE regent_standby_awaited gauge\nregent_standby_awaited \(isAwaited ? 1 : 0)\n"
}

/// The numbers of one of several nodes: each with its name, so that one Prometheus tells them apart.
func labelled(_ text: String, node: NodeID) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    guard !line.isEmpty, line.first != "#", let end = line.firstIndex(where: { $0 == "{" || $0 == " " }) else {
      return String(line)
    }
    let label = "node=\"\(node)\""
    return line[end] == "{"
      ? "\(line[..<end]){\(label),\(line[line.index(after: end)...])" : "\(line[..<end]){\(label)}\(line[end...])"
  }.joined(separator: "\n")
}

/// Whether other nodes' bell is not heard, as Prometheus reads it.
func bellUnheard(_ isDeaf: Bool) -> String {
  "# HELP regent_bell_unheard Whether the bell of other nodes is not heard: they are looked at every 20 ms then.\n"
    + "# TYPE regent_bell_unheard gauge\nregent_bell_unheard \(isDeaf ? 1 : 0)\n"
}
