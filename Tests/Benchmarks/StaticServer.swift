internal import Glibc
internal import RegentHTTPCodec
internal import HTTPServer

// The server that the engine rows measure: the same prepared reply for every path, from one event loop.

/// `serve-static PORT BODY` serves until it is killed.
func serveStatic(_ arguments: [String]) -> Int32 {
  guard arguments.count == 2, let port = UInt16(arguments[0]) else {
    note("usage: Benchmarks serve-static PORT BODY\n")
    return 2
  }
  let reply = PreparedResponse(
    Response(.ok, type: "text/plain", body: Array(arguments[1].utf8)))
  var configuration = ServerConfiguration()
  configuration.loops = 1
  configuration.connections = 25_000
  let handler = ClosureHandler { _ in .now(Response(reply)) }
  do {
    let server = try Server(
      [Listener(.network(.loopback, port: port), handler: handler)], configuration: configuration)
    note("listening on \(server.addresses[0])\n")
    while true { pause() }
  } catch {
    note("\(error)\n")
    return 1
  }
}
