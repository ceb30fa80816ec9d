import HTTPCodec
import HTTPServer
import PairingService

/// A server of its own for numbers: what watches the service must not be open to whom it serves.
func metricsServer(on address: ListenAddress, _ text: @escaping @Sendable () -> String) throws
  -> Server
{
  var routes = Routes()
  routes.get("/metrics") { _, _ in
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
