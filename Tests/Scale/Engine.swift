internal import Glibc
internal import HTTPServer
internal import RegentHTTPCodec
internal import RegentPlatform
internal import ScaleModel
internal import TestSupport

// The HTTP engine without the service: what sockets add to the cost of a call.

/// `nothing PORT` answers `/now` at once, `/later` from a task and `/batch` together with other calls of the same
/// moment; it never answers other paths.
func serveNothing(_ arguments: [String]) -> Int32 {
  guard arguments.count == 1, let port = UInt16(arguments[0]) else { return usage() }
  let body = Array(#"{"status":404,"message":"Not Found"}"#.utf8)
  let reply = PreparedResponse(Response(.notFound, type: "application/json", body: body))
  let (held, batch) = (Kept<[PendingReply]>([]), Kept<[PendingReply]>([]))
  @Sendable func answerBatch() async {
    try? await Task.sleep(for: .milliseconds(Int(Engine.batchPause * 1_000)))
    let all = batch.withLock { batch in
      defer { batch = [] }
      return batch
    }
    for pending in all { pending.complete(Response(reply)) }
  }
  let handler = ClosureHandler { request in
    switch String(decoding: request.path, as: UTF8.self) {
    case "/now": .now(Response(reply))
    case "/later": .later { pending in Task { pending.complete(Response(reply)) } }
    case "/batch":
      .later { pending in
        let isFirst = batch.withLock { batch in
          batch.append(pending)
          return batch.count == 1
        }
        if isFirst { Task { await answerBatch() } }
      }
    default: .later { pending in held.withLock { $0.append(pending) } }
    }
  }
  var configuration = ServerConfiguration()
  configuration.unprovenConnectionsPerSource = 100_000
  do {
    let server = try Server(
      [Listener(.network(.loopback, port: port), handler: handler)], configuration: configuration)
    return withExtendedLifetime(server) { while true { pause() } }
  } catch {
    note("\(error)")
    return 1
  }
}

/// That engine in its own process.
final class Engine {
  /// About as long as a transaction of 256 codes takes, in seconds.
  static let batchPause = 0.07
  private let program: RunningProgram
  private let address: NodeAddress

  init() throws {
    let port = try freePort()
    program = try RunningProgram(try ownProgram(), ["nothing", "\(port)"])
    let address = NodeAddress(pid: program.pid, port: port, admin: "")
    self.address = address
    try eventually("the engine listens") { (try? SocketCluster([address]).line(to: 0)) != nil }
  }

  private func call(_ path: String) throws -> Call {
    // As long as a signed poll.
    try Call("GET \(path) HTTP/1.1\r\nHost: tv\r\nX-Filler: \(String(repeating: "a", count: 300))\r\n\r\n")
  }

  /// Microseconds of processor time for a call under the steady load of one node, a mix as of polls and sign-ins.
  func light() throws -> Double {
    let cluster = try SocketCluster([address])
    let lines = try (0..<200).map { _ in try cluster.line(to: 0) }
    let (now, later, tally) = (try call("/now"), try call("/later"), OutcomeCounts())
    var turn = 0
    func ask(_ call: Call) {
      turn += 1
      lines[turn % lines.count].send(call) { _ = tally.take($0, 404) }
    }
    let streams: [(rate: Double, act: () throws -> Void)] = [
      (Pace.polls, { ask(now) }), (3 * Pace.signIns, { ask(later) }),
    ]
    try pace(cluster, for: 0.5, streams)
    let (before, count) = (try cluster.processors(), tally.count)
    try pace(cluster, for: 3, streams)
    try tally.check("the engine")
    return (try cluster.processors() - before) / Double(tally.count - count) * 1e6
  }

  /// Microseconds of the calling process for a call that is answered together with many others.
  func client() throws -> Double {
    let cluster = try SocketCluster([address])
    let lines = try (0..<Int(Model.batch)).map { _ in try cluster.line(to: 0) }
    let crowd = Crowd(Supply([Call](repeating: try call("/batch"), count: 100_000)), status: 404)
    crowd.begin(lines)
    try cluster.turn(until: seconds() + 0.5)
    let (before, count) = (try known(processor(of: getpid())), crowd.tally.count)
    try cluster.turn(until: seconds() + 2)
    let each = (try known(processor(of: getpid())) - before) / Double(crowd.tally.count - count) * 1e6
    crowd.end()
    try cluster.turn(until: seconds() + 0.3)
    try crowd.tally.check("the engine")
    return each
  }

  /// KiB of a connection that waits for its response.
  func connection() throws -> Double {
    let cluster = try SocketCluster([address])
    let call = try call("/held")
    func hold(_ count: Int) throws {
      for _ in 0..<count { try cluster.line(to: 0).send(call) { _ in } }
      try cluster.turn(until: seconds() + 0.5)
    }
    try hold(500)
    let before = try anonymousKiB(address.pid)
    try hold(3_000)
    return (try anonymousKiB(address.pid) - before) / 3_000
  }

  /// A cluster of this engine, for `BesideSockets`.
  fileprivate func cluster() throws -> SocketCluster { try SocketCluster([address]) }

  fileprivate func laterCall() throws -> Call { try call("/later") }
}

/// Nodes without sockets, whose calls first go over a socket to an engine without a service.
///
/// Thus calls arrive as over sockets, and engine and service compete for caches and processors as they do in a real
/// node.
final class BesideSockets: Cluster {
  private let nodes: InProcessCluster
  private let sockets: SocketCluster
  private let call: Call
  private let calls = OutcomeCounts()
  /// Seconds of this process for each call over a socket.
  private let client: Double

  init(_ nodes: InProcessCluster, _ engine: Engine, client: Double) throws {
    self.nodes = nodes
    sockets = try engine.cluster()
    call = try engine.laterCall()
    self.client = client / 1e6
  }

  var count: Int { nodes.count }

  func line(to node: Int) throws -> any Line {
    CarriedLine(try sockets.line(to: 0), call, calls, nodes.line(to: node))
  }

  func operatorLine(to node: Int) -> any Line { nodes.operatorLine(to: node) }

  func turn(until time: Double) throws {
    try sockets.turn(until: time)
    try calls.check("the engine")
  }

  func processors() throws -> Double { try nodes.processors() - client * Double(calls.count) }

  /// The seconds of the engine and the number of calls over its sockets so far.
  func engineUse() throws -> (seconds: Double, calls: Int) { (try sockets.processors(), calls.count) }
}

/// A connection whose calls go over a socket to the engine, and then to a node without sockets.
private final class CarriedLine: Line {
  private let socket: any Line
  private let first: Call
  private let calls: OutcomeCounts
  private let node: any Line

  init(_ socket: any Line, _ first: Call, _ calls: OutcomeCounts, _ node: any Line) {
    (self.socket, self.first, self.calls, self.node) = (socket, first, calls, node)
  }

  func send(_ call: Call, _ done: @escaping @Sendable (Reply) -> Void) {
    socket.send(first) { [calls, node] reply in
      if calls.take(reply, 404) { node.send(call, done) }
    }
  }
}
