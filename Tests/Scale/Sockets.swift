internal import Glibc
internal import HTTPServer
internal import RegentHTTPCodec
internal import RegentPlatform
internal import TestSupport

// Nodes behind sockets, and the client that calls them: one thread, so that it takes little of a machine that is theirs.

/// Where a node listens.
struct NodeAddress {
  let pid: Int32
  let port: UInt16
  /// Its admin socket.
  let admin: String
}

/// Processes that are called over sockets.
final class SocketCluster: Cluster {
  let nodes: [NodeAddress]
  var count: Int { nodes.count }
  private let poller: Poller
  private var lines: [SocketLine] = []
  private let batch: CInt = 256

  init(_ nodes: [NodeAddress]) throws {
    self.nodes = nodes
    poller = try Poller(capacity: 256)
  }

  func line(to node: Int) throws -> any Line {
    try add(try connected(SocketAddress(ipv4: 0x7f00_0001, port: nodes[node].port)))
  }

  func operatorLine(to node: Int) throws -> any Line {
    try add(try connected(try SocketAddress(unixPath: nodes[node].admin)))
  }

  /// Ends all connections.
  func hangUp() { lines = [] }

  private func add(_ line: SocketLine) throws -> any Line {
    try poller.add(line.descriptor, .readable, token: UInt64(lines.count))
    lines.append(line)
    return line
  }

  func turn(until time: Double) throws {
    repeat {
      let left = CInt(max(0, ((time - seconds()) * 1_000).rounded(.up)))
      for index in 0..<poller.wait(milliseconds: left) {
        let line = lines[Int(poller.event(index).token)]
        if try !line.read() { poller.remove(line.descriptor) }
      }
    } while seconds() < time
  }

  func processors() throws -> Double { try nodes.reduce(0) { $0 + (try known(processor(of: $1.pid))) } }
}

private func connected(_ address: SocketAddress) throws -> SocketLine {
  let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw TestSupportError("no socket: errno \(errno)") }
  let line = SocketLine(descriptor)
  let failed = unsafe address.withPointer { name, size in unsafe connect(descriptor, name, size) }
  guard failed == 0 else { throw TestSupportError("cannot connect: errno \(errno)") }
  var yes: Int32 = 1
  if address.family == AF_INET {
    unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }
  return line
}

/// A connection, and who waits for an answer over it.
private final class SocketLine: Line {
  private struct State {
    var waiting: [@Sendable (Reply) -> Void] = []
    var bytes: [UInt8] = []
  }

  let descriptor: Int32
  private let state = Kept(State())

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  func send(_ call: Call, _ done: @escaping @Sendable (Reply) -> Void) {
    state.withLock { $0.waiting.append(done) }
    let count = unsafe call.bytes.withUnsafeBytes { bytes in
      unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
    guard count == call.bytes.count else { return fail("nothing could be sent: errno \(errno)") }
  }

  private func fail(_ reason: String) {
    let all = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in all { one(Reply(status: 0, body: Array(reason.utf8))) }
  }

  /// Takes what has come.
  ///
  /// - Returns: false when the other side has closed it, and nobody waits for anything.
  func read() throws -> Bool {
    let count = unsafe withUnsafeTemporaryAllocation(byteCount: 32_768, alignment: 1) { room in
      let count = unsafe recv(descriptor, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
      if count > 0 { state.withLock { state in unsafe state.bytes.append(contentsOf: room[..<count]) } }
      return count
    }
    if count < 0, errno == EAGAIN { return true }
    guard count > 0 else {
      guard state.withLock({ !$0.waiting.isEmpty }) else { return false }
      fail("the node closed the connection")
      throw TestSupportError("a node closed a connection: errno \(errno)")
    }
    while let (done, reply) = state.withLock({ Self.take(&$0) }) { done(reply) }
    return true
  }

  private static func take(_ state: inout State) -> (@Sendable (Reply) -> Void, Reply)? {
    guard let head = state.bytes.firstRange(of: [13, 10, 13, 10]), !state.waiting.isEmpty else { return nil }
    var length = 0
    if let field = state.bytes[..<head.upperBound].firstRange(of: Array("Content-Length: ".utf8)) {
      for digit in state.bytes[field.upperBound...].prefix(while: { $0 >= 48 && $0 < 58 }) {
        length = length * 10 + Int(digit - 48)
      }
    }
    let end = head.upperBound + length
    guard state.bytes.count >= end else { return nil }
    let status = state.bytes[9..<12].reduce(UInt16(0)) { $0 * 10 + UInt16($1 & 15) }
    let reply = Reply(status: status, body: Array(state.bytes[head.upperBound..<end]))
    state.bytes.removeFirst(end)
    return (state.waiting.removeFirst(), reply)
  }
}

// MARK: - An engine without a service

/// `nothing PORT`: answers `/now` at once, `/later` from a task, and holds everything else.
func serveNothing(_ arguments: [String]) -> Int32 {
  guard arguments.count == 1, let port = UInt16(arguments[0]) else { return usage() }
  let body = Array(#"{"status":404,"message":"Not Found"}"#.utf8)
  let reply = PreparedResponse(Response(.notFound, type: "application/json", body: body))
  let held = Kept<[PendingReply]>([])
  let handler = ClosureHandler { request in
    switch String(decoding: request.path, as: UTF8.self) {
    case "/now": .now(Response(reply))
    case "/later": .later { pending in Task { pending.complete(Response(reply)) } }
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

/// What a call costs before and after the service has it.
struct EngineCosts {
  var now = 0.0
  var later = 0.0
  var many = 0.0
  var client = 0.0
  var connection = 0.0
}

func measureEngine() throws -> EngineCosts {
  let port = try freePort()
  let program = try RunningProgram(try ownProgram(), ["nothing", "\(port)"], standardError: "/dev/null")
  let address = NodeAddress(pid: program.pid, port: port, admin: "")
  try eventually("the engine listens") { try? connected(SocketAddress(ipv4: 0x7f00_0001, port: port)) }
  var costs = EngineCosts()
  let head = { (path: String) throws in
    // As long as a signed poll.
    try Call("GET \(path) HTTP/1.1\r\nHost: tv\r\nX-Filler: \(String(repeating: "a", count: 300))\r\n\r\n")
  }
  for path in ["/now", "/later"] {
    let cluster = try SocketCluster([address])
    let lines = try (0..<100).map { _ in try cluster.line(to: 0) }
    let (call, tally) = (try head(path), Tally())
    var turn = 0
    func run(_ span: Double) throws {
      try pace(
        cluster, for: span,
        [
          (
            Pace.polls,
            {
              turn += 1
              lines[turn % 100].send(call) { _ = tally.take($0, 404) }
            }
          )
        ])
    }
    try run(0.5)
    let (before, count) = (try cluster.processors(), tally.count)
    try run(2)
    let each = (try cluster.processors() - before) / Double(tally.count - count) * 1e6
    if path == "/now" { costs.now = each } else { costs.later = each }
    try tally.check("the engine")
  }
  let cluster = try SocketCluster([address])
  let lines = try (0..<512).map { _ in try cluster.line(to: 0) }
  let call = try head("/later")
  let crowd = Crowd(Supply([Call](repeating: call, count: 400_000)), status: 404)
  crowd.begin(lines)
  try cluster.turn(until: seconds() + 0.5)
  let before = (try cluster.processors(), try known(processor(of: getpid())), crowd.tally.count)
  try cluster.turn(until: seconds() + 2)
  let count = Double(crowd.tally.count - before.2)
  costs.many = (try cluster.processors() - before.0) / count * 1e6
  costs.client = (try known(processor(of: getpid())) - before.1) / count * 1e6
  crowd.end()
  try cluster.turn(until: seconds() + 0.3)
  cluster.hangUp()
  try crowd.tally.check("the engine")
  costs.connection = try measureConnections(address, try head("/held"))
  return costs
}

/// KiB of a connection whose answer is held.
private func measureConnections(_ address: NodeAddress, _ call: Call) throws -> Double {
  let cluster = try SocketCluster([address])
  func hold(_ count: Int) throws {
    for _ in 0..<count { try cluster.line(to: 0).send(call) { _ in } }
    try cluster.turn(until: seconds() + 0.5)
  }
  try hold(500)
  let before = try anonymousKiB(address.pid)
  try hold(3_000)
  return (try anonymousKiB(address.pid) - before) / 3_000
}

func ownProgram() throws -> String {
  var buffer = [CChar](repeating: 0, count: 4096)
  let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
  guard count > 0 else { throw TestSupportError("no /proc/self/exe") }
  return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
