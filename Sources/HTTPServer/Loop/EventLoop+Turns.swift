internal import RegentPlatform

// Whose turn it is, when more ask than can be answered at once.

extension EventLoop {
  /// How long those that wait are given turns before the loop looks who else has come, in nanoseconds.
  private static let turnsBeforeLook: UInt64 = 100_000

  /// Gives the connections that wait a turn each, until it is time to look again.
  func takeTurns() {
    var end: UInt64?
    while let id = order.take() {
      guard let connection = connection(id) else { continue }
      connection.isQueued = false
      resume(connection)
      settle(connection)
      guard !order.isEmpty else { return }
      let now = Clocks.bootNanoseconds()
      if now >= end ?? .max { return }
      if end == nil { end = now &+ EventLoop.turnsBeforeLook }
    }
  }

  /// Whether a connection with news has to wait: it was served a moment ago, and asks again already.
  ///
  /// A flood on a few connections keeps the loop busy, and whoever asks now and then must not wait for all of it each
  /// time. Where nobody else asks, this costs nothing: it is served in the same look.
  func letsOthersGoFirst(_ connection: Connection, _ events: Poller.Events) -> Bool {
    guard events == .readable, connection.phase != .handling, connection.phase != .lingering,
      connection.phase != .handshake, !connection.hasOutbound,
      connection.isQueued || order.comesSoon(connection.turnMark)
    else { return false }
    connection.mayHaveInput = true
    putOff(connection)
    return true
  }

  /// Gives the connection another turn after those that wait already.
  func putOff(_ connection: Connection) {
    guard !connection.isQueued else { return }
    connection.isQueued = true
    order.append(connection.id)
  }
}
