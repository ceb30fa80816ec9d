import Glibc
import RegentHTTPCodec
import RegentPlatform

/// Makes http calls over TCP and Unix sockets.
final class PlainTransport {
  private unowned let loop: ClientLoop
  private var connections: [UInt64: PlainConnection] = [:]
  private var idle: [UInt64] = []
  private var lastID: UInt64 = 0
  private var scratch: [UInt8] = []

  /// The time after which the next address of a host is tried in parallel (RFC 8305), in nanoseconds.
  private static let attemptDelay: UInt64 = 250_000_000
  /// The pause before another attempt on a Unix socket whose queue is full, in nanoseconds.
  ///
  /// The kernel refuses an attempt at once while the queue is full.
  private static let fullQueuePause: UInt64 = 10_000_000

  init(_ loop: ClientLoop) { self.loop = loop }

  /// The next time at which a timer of one of the connections is due.
  var nextTimer: UInt64 { connections.values.reduce(.max) { min($0, $1.timer) } }

  /// Sends the call on a kept connection.
  ///
  /// Returns false if there is no usable one.
  func reuse(for call: Call) -> Bool {
    guard !call.needsNewConnection else { return false }
    while let index = idle.lastIndex(where: { connections[$0]?.origin == call.origin }) {
      guard let connection = connections[idle.remove(at: index)] else { continue }
      // The timer of a kept connection is the time of its last response plus `keepAlive`.
      let age = Clocks.bootNanoseconds() + loop.configuration.keepAlive.wholeNanoseconds - connection.timer
      let mayBeOld = call.request.isIdempotent || call.origin.scheme == .unix
      guard connection.isAlive(), mayBeOld || age < loop.configuration.freshness.wholeNanoseconds else {
        drop(connection)
        continue
      }
      connection.isReused = true
      carry(call, on: connection)
      if call.request.isIdempotent, call.origin.scheme != .unix, connection.state == .busy {
        connection.timer = Clocks.bootNanoseconds() + TCPLiveness.secondTry
      }
      return true
    }
    return false
  }

  /// Connects for a call.
  ///
  /// An http call is then sent on the connection; an https call only learns which address answers first.
  func start(_ call: Call, _ addresses: [SocketAddress]) {
    lastID += 1
    let connection = PlainConnection(id: lastID, call, addresses)
    connections[lastID] = connection
    call.carrier = .plain
    tryNextAddress(connection, .silent)
  }

  func handle(_ event: Poller.Event) {
    // An earlier event of the same round has already dropped this connection.
    guard let connection = connections[event.token] else { return }
    switch connection.state {
    case .idle:
      // The server has closed the kept connection, or has sent data without a request.
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

  /// Drops the connections of a call that was ended from outside, by its deadline or by the caller.
  func abandon(_ call: Call) {
    for connection in connections.values where connection.call === call { drop(connection) }
  }

  func expire(_ now: UInt64) {
    for connection in Array(connections.values) where connection.timer <= now {
      switch connection.state {
      case .idle: drop(connection)
      case .connecting where connection.addresses.isEmpty: tryNextAddress(connection, .silent)
      case .connecting: tryBeside(connection, now)
      case .pausing: tryNextAddress(connection, .silent)
      case .busy:
        connection.timer = .max
        guard let call = connection.call, !connection.reader.hasBegun, connection.isUnacknowledged else { continue }
        drop(connection)
        loop.repeatOnNewConnection(call)
      }
    }
  }

  /// Closes the kept connections, because the machine was suspended and the servers have closed them.
  func dropKept() {
    for connection in Array(connections.values) where connection.state == .idle { drop(connection) }
  }

  /// Ends the connections that were made from an address that this machine no longer has.
  func dropLost() {
    for connection in Array(connections.values) where connection.state != .pausing && connection.hasLostItsAddress {
      let call = connection.call
      let isUnseen = !connection.reader.hasBegun && connection.isUnacknowledged
      drop(connection)
      if let call { loop.lostConnection(of: call, isUnseen: isUnseen) }
    }
  }

  func shutDown() {
    for connection in Array(connections.values) { drop(connection) }
  }

  /// Tries the next address of the host while the current attempt continues.
  ///
  /// On a slow network the first address may still be the one that answers.
  private func tryBeside(_ connection: PlainConnection, _ now: UInt64) {
    guard let call = connection.call else { return drop(connection) }
    let rest = Array(connection.addresses)
    connection.addresses = []
    connection.timer = connectEnd(call, now)
    start(call, rest)
  }

  /// The time after which a connection attempt that starts now counts as failed.
  private func connectEnd(_ call: Call, _ now: UInt64) -> UInt64 {
    min(now + loop.configuration.connectLimit.wholeNanoseconds, call.reachEnd)
  }

  private func dropOthers(_ connection: PlainConnection) {
    for other in Array(connections.values) where other !== connection && other.call === connection.call { drop(other) }
  }

  private func isTriedElsewhere(_ call: Call) -> Bool { connections.values.contains { $0.call === call } }

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
          isLast ? connectEnd(call, now) : now + PlainTransport.attemptDelay
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
          dropOthers(connection)
          drop(connection)
          return loop.fail(call, .system(error.description))
        }
        obstacle = found
        connection.addresses.removeFirst()
      }
    }
    drop(connection)
    if !isTriedElsewhere(call) { loop.fail(call, .unreachable(obstacle)) }
  }

  private func connected(_ connection: PlainConnection) {
    guard let call = connection.call else { return drop(connection) }
    dropOthers(connection)
    let address = connection.address
    if call.origin.scheme == .https {
      drop(connection)
      return loop.reached(call, at: address)
    }
    loop.keep(address, for: call)
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
    // Not after `.connectionSilent`: the server may have received the request, whose signature is valid for one use.
    let mayRepeat = kind == .connectionLost && connection.isReused && !connection.reader.hasBegun
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
  /// The obstacle that an `errno` of a connection attempt means; nil if the cause is this machine and not the network.
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
