import RegentHTTPCodec
import HTTPServer
import PairingService
import PairingStorePostgreSQL
import RegentPairing
import RegentPlatform
import RegentSQL
import SQLite

/// The server for metrics.
///
/// It has its own listener, so that clients of the service cannot read the metrics.
///
/// A request must have a Host header with an address or a name of this machine. The host of `publicURL` counts as one.
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
  configuration.deadlines.header = .seconds(3)
  return try Server(
    [Listener(address, handler: try Router(routes, refuse: ServiceRoutes.refuse))],
    configuration: configuration)
}

/// The values of the Host header that the metrics server accepts.
///
/// Any web page can make its own name resolve to this listener (DNS rebinding), and the browser would then let the page
/// read the answer. An attacker cannot do that with an IP address or with the machine's own names.
struct MetricsHosts {
  private let address: ListenAddress
  private let names: Set<HostName>

  init(_ address: ListenAddress, publicURL: String) {
    self.address = address
    let machine = machineName()
    // `NAME.local` is the mDNS name of this machine.
    let own = machine.map { [$0, "\($0.prefix { $0 != "." })", "\($0.prefix { $0 != "." }).local"] } ?? []
    names = Set(
      own.compactMap { HostName(parsing: $0) } + [.name("localhost")]
        + [(try? AbsoluteURL(parsing: publicURL))?.host].compactMap(\.self))
  }

  /// Whether the metrics server answers a request with this Host header.
  ///
  /// The header is nil only for HTTP/1.0, which browsers do not use.
  func accept(_ authority: String?) -> Bool {
    // A request over a Unix socket needs no check, because a web page cannot make a browser connect to a Unix socket.
    guard case .network(let own, _) = address, let authority else { return true }
    guard let host = HostAndPort(parsing: authority)?.host else { return false }
    if names.contains(host) { return true }
    guard case .address(let asked) = host else { return false }
    return own.isUnspecified || asked == own || (own.isLoopback && asked.isLoopback)
  }
}

/// The HTTP server's numbers in the Prometheus text format.
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
    ("http_connections_timed_out_total", "Connections closed because a deadline passed.", numbers.timedOut),
    ("http_replies_abandoned_total", "Replies whose client disconnected.", numbers.abandoned),
    ("http_replies_faulty_total", "Replies replaced by a 500.", numbers.faulty),
    ("http_handshakes_failed_total", "TLS handshakes that failed.", numbers.failedHandshakes),
    (
      "http_accept_pauses_total", "How often no connection was accepted because file descriptors were used up.",
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

/// The numbers of a database in a file in the Prometheus text format.
func exposition(_ numbers: DatabaseStatistics) -> String {
  commits(numbers.commitMicroseconds, of: numbers.batchSizes, failed: numbers.rollbacks, full: numbers.diskFull)
    + "# HELP regent_log_pages Pages in the write-ahead log.\n# TYPE regent_log_pages gauge\n"
    + "regent_log_pages \(numbers.logPages)\n"
}

/// The numbers of a database on a server in the Prometheus text format.
///
/// It has no numbers of the write-ahead log, which the server manages.
func exposition(_ numbers: WriteNumbers) -> String {
  commits(numbers.commitMicroseconds, of: numbers.batchSizes, failed: numbers.rollbacks, full: numbers.diskFull)
}

private func commits(_ microseconds: Histogram, of batches: Histogram, failed: Int, full: Int) -> String {
  microseconds.exposition(
    "commit_seconds", "How long a commit took until it was on the disk.",
    // The buckets go from 64 µs to 8 s: from a fast disk to one that is failing.
    bounds: (6...23).map { (bits: $0, label: seconds(microseconds: 1 << $0)) },
    sum: seconds(microseconds: microseconds.sum))
    + batches.exposition(
      "commit_requests", "Changes written by one commit.",
      bounds: (1...8).map { (bits: $0, label: String((1 << $0) - 1)) },
      sum: String(batches.sum))
    + [
      ("commits_failed_total", "Commits that failed.", failed),
      ("disk_full_total", "How often the disk was found full.", full),
    ].map { name, help, value in
      "# HELP regent_\(name) \(help)\n# TYPE regent_\(name) counter\nregent_\(name) \(value)\n"
    }.joined()
}

extension Histogram {
  /// A histogram in the Prometheus text format.
  ///
  /// Each bucket's bound is a power of two.
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

/// A duration as seconds with six decimals, without rounding and without an exponent.
private func seconds(microseconds: Int) -> String {
  let fraction = String(microseconds % 1_000_000)
  let zeros = String(repeating: "0", count: 6 - fraction.count)
  return "\(microseconds / 1_000_000).\(zeros)\(fraction)"
}

/// The metric `regent_database_away_seconds` in the Prometheus text format: for how long the database server has not
/// answered.
func databaseAway(_ duration: Duration?) -> String {
  let seconds = (duration ?? .zero).components.seconds
  return "# HELP regent_database_away_seconds For how long the database server has not answered.\n"
    + "# TYPE regent_database_away_seconds gauge\nregent_database_away_seconds \(seconds)\n"
}

/// The metric `regent_standby_awaited` in the Prometheus text format: whether a change waits for the standby.
func standbyAwaited(_ isAwaited: Bool) -> String {
  "# HELP regent_standby_awaited Whether a change has waited for the standby for more than a second.\n"
    + "# TYPE regent_standby_awaited gauge\nregent_standby_awaited \(isAwaited ? 1 : 0)\n"
}

/// Adds the node's name as a label, so that one Prometheus can distinguish several nodes.
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

/// The metric `regent_bell_unheard` in the Prometheus text format: 1 while notifications of other nodes do not arrive.
func bellUnheard(_ isDeaf: Bool) -> String {
  "# HELP regent_bell_unheard Whether notifications of other nodes do not arrive, so that the database is queried every 20 ms.\n"
    + "# TYPE regent_bell_unheard gauge\nregent_bell_unheard \(isDeaf ? 1 : 0)\n"
}
