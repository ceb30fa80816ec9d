internal import Glibc
internal import RegentPlatform
internal import TestSupport

// Nodes behind sockets and the client that calls them. The client has one thread, so that it takes little processor
// time from the nodes.

/// The addresses of a node.
struct NodeAddress {
  let pid: Int32
  let port: UInt16
  /// The path of its admin socket.
  let admin: String
}

/// Node processes that are called over sockets.
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

  /// Closes all connections.
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

/// A connection, and the callbacks that await a response on it.
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

  /// Receives available bytes.
  ///
  /// - Returns: false when the node has closed the connection and no response is awaited.
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
