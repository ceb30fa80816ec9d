import Glibc
import RegentHTTPCodec
import RegentPlatform

/// HTTP/1.1 in the clear, over TCP and Unix sockets.
final class PlainTransport {
  private unowned let loop: ClientLoop
  private var connections: [UInt64: PlainConnection] = [:]
  private var idle: [UInt64] = []
  private var lastID: UInt64 = 0
  private var scratch: [UInt8] = []

  /// An address that does not answer must leave time for the next one; nanoseconds.
  private static let attemptLimit: UInt64 = 3_000_000_000
  /// A Unix socket whose queue is full refuses at once instead of letting us wait; nanoseconds.
  private static let fullQueuePause: UInt64 = 10_000_000

  init(_ loop: ClientLoop) { self.loop = loop }

  /// The next moment at which `expire` has something to do.
  var nextTimer: UInt64 { connections.values.reduce(.max) { min($0, $1.timer) } }

  /// Sends the call on a kept connection if there is a live one.
  func reuse(for call: Call) -> Bool {
    guard !call.needsNewConnection else { return false }
    while let index = idle.lastIndex(where: { connections[$0]?.origin == call.origin }) {
      guard let connection = connections[idle.remove(at: index)] else { continue }
      guard connection.isAlive() else {
        drop(connection)
        continue
      }
      connection.isReused = true
      carry(call, on: connection)
      return true
    }
    return false
  }

  /// Sends the call on a new connection.
  func start(_ call: Call, _ addresses: [SocketAddress]) {
    lastID += 1
    let connection = PlainConnection(id: lastID, call, addresses)
    connections[lastID] = connection
    call.carrier = .plain
    tryNextAddress(connection, .silent)
  }

  func handle(_ event: Poller.Event) {
    // Gone already: dropped by an earlier event of the same round.
    guard let connection = connections[event.token] else { return }
    switch connection.state {
    case .idle:
      // Closed by the server, or it speaks unasked.
      drop(connection)
    case .pausing:
      break
    case .connecting:
      let code = connection.connectResult()
      if code == 0, event.isWritable || event.isReadable {
        connected(connection)
      } else if code != 0 {
        tryNextAddress(connection, PlainTransport.obstacle(code))
      }
    case .busy:
      goOn(connection, event)
    }
  }

  /// The call is over for other reasons.
  func abandon(_ call: Call) {
    for connection in connections.values where connection.call === call { drop(connection) }
  }

  func expire(_ now: UInt64) {
    for connection in Array(connections.values) where connection.timer <= now {
      switch connection.state {
      case .idle: drop(connection)
      case .connecting: tryNextAddress(connection, .silent)
      case .pausing: tryNextAddress(connection, .silent)
      case .busy: connection.timer = .max
      }
    }
  }

  func shutDown() {
    for connection in Array(connections.values) { drop(connection) }
  }

  private func tryNextAddress(_ connection: PlainConnection, _ last: ClientError.Obstacle) {
    guard let call = connection.call else { return drop(connection) }
    var obstacle = last
    while let address = connection.addresses.first {
      connection.close()
      do throws(SystemError) {
        let now = Clocks.bootNanoseconds()
        connection.state = .connecting
        let isLast = connection.addresses.count == 1
        connection.timer =
          now + (isLast ? loop.configuration.connectLimit.wholeNanoseconds : PlainTransport.attemptLimit)
        let isConnected = try connection.connect(to: address, loop.poller)
        connection.addresses.removeFirst()
        if isConnected { connected(connection) }
        return
      } catch {
        if error.code == EAGAIN, address.family == AF_UNIX {
          connection.close()
          connection.state = .pausing
          connection.timer = Clocks.bootNanoseconds() + PlainTransport.fullQueuePause
          return
        }
        guard let found = PlainTransport.obstacleIfNetwork(error.code) else {
          drop(connection)
          return loop.fail(call, .system(error.description))
        }
        obstacle = found
        connection.addresses.removeFirst()
      }
    }
    drop(connection)
    loop.fail(call, .unreachable(obstacle))
  }

  private func connected(_ connection: PlainConnection) {
    guard let call = connection.call else { return drop(connection) }
    guard connection.isTrusted(by: loop.configuration.trustsListener) else {
      drop(connection)
      return loop.fail(call, .unreachable(.notTrusted))
    }
    carry(call, on: connection)
  }

  private func carry(_ call: Call, on connection: PlainConnection) {
    do throws(ClientError.Kind) {
      try connection.carry(call, loop.poller)
    } catch {
      finish(connection, error)
    }
  }

  private func goOn(_ connection: PlainConnection, _ event: Poller.Event) {
    do throws(ClientError.Kind) {
      if event.isWritable, !connection.isSent { try connection.send(loop.poller) }
      guard event.isReadable else { return }
      if scratch.isEmpty { scratch = [UInt8](repeating: 0, count: 16_384) }
      if try connection.receive(&scratch) { finish(connection) }
    } catch {
      finish(connection, error)
    }
  }

  private func finish(_ connection: PlainConnection) {
    guard let call = connection.call else { return drop(connection) }
    let reader = connection.reader
    if reader.allowsReuse, connection.isSent, loop.configuration.idleConnections > 0 {
      keep(connection)
    } else {
      drop(connection)
    }
    loop.answer(
      call,
      ClientResponse(
        status: reader.status, headers: reader.headers, body: reader.body, url: call.request.url))
  }

  private func finish(_ connection: PlainConnection, _ kind: ClientError.Kind) {
    let call = connection.call
    let mayRepeat =
      kind == .connectionLost && connection.isReused && !connection.reader.hasBegun
    drop(connection)
    guard let call else { return }
    if mayRepeat, call.request.isIdempotent {
      loop.repeatOnNewConnection(call)
    } else {
      loop.fail(call, kind)
    }
  }

  private func keep(_ connection: PlainConnection) {
    connection.call = nil
    connection.state = .idle
    connection.timer =
      Clocks.bootNanoseconds() + loop.configuration.keepAlive.wholeNanoseconds
    idle.append(connection.id)
    if idle.count > loop.configuration.idleConnections, let oldest = connections[idle[0]] {
      drop(oldest)
    }
  }

  private func drop(_ connection: PlainConnection) {
    connection.close()
    connection.call = nil
    connections[connection.id] = nil
    if let index = idle.firstIndex(of: connection.id) { idle.remove(at: index) }
  }
}

extension PlainTransport {
  /// What an `errno` of connecting means to a person; `nil` when it is about this machine, not the network.
  fileprivate static func obstacleIfNetwork(_ code: CInt) -> ClientError.Obstacle? {
    switch code {
    case ECONNREFUSED, ECONNRESET, ECONNABORTED: .refused
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL:
      .noRoute
    case ENOENT, ENOTDIR, ENOTSOCK: .noSocket
    case EACCES, EPERM: .notAllowed
    case ETIMEDOUT: .silent
    default: nil
    }
  }

  fileprivate static func obstacle(_ code: CInt) -> ClientError.Obstacle {
    obstacleIfNetwork(code) ?? .noRoute
  }
}
