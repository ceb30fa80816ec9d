internal import RegentPlatform

// Decides which connection is served next when several have requests.

extension EventLoop {
  /// How long waiting connections are served before the loop polls for new events, in nanoseconds.
  private static let turnsBeforeLook: UInt64 = 100_000

  /// Serves the waiting connections one after the other, until it is time to poll again.
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

  /// Whether a connection with new input must wait, because it was served a moment ago.
  ///
  /// A flood of requests on a few connections keeps the loop busy, and a client with occasional requests must not wait
  /// for the whole flood each time. Without other clients the connection is served in the same round, so this costs
  /// nothing.
  func letsOthersGoFirst(_ connection: Connection, _ events: Poller.Events) -> Bool {
    guard events == .readable, connection.phase != .handling, connection.phase != .lingering,
      connection.phase != .handshake, !connection.hasOutbound,
      connection.isQueued || order.comesSoon(connection.turnMark)
    else { return false }
    connection.mayHaveInput = true
    putOff(connection)
    return true
  }

  /// Puts the connection into the queue behind those that already wait to be served.
  func putOff(_ connection: Connection) {
    guard !connection.isQueued else { return }
    connection.isQueued = true
    order.append(connection.id)
  }
}
