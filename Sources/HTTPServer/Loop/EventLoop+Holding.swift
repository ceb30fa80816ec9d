internal import RegentHTTPCodec

// What a connection holds between two turns, and for whom that counts. A valid request lifts no limit for good: without
// this, one good request each, and then thousands of unfinished bodies or replies that nobody reads, fill the memory.

extension EventLoop {
  /// So much each connection may hold uncounted: a form in two packets is taken however full it is.
  static var freeBytes: Int { 4 * 1024 }
  /// What the kernel may hold of a reply that is not read (`TCP_NOTSENT_LOWAT`), which is counted as ours.
  static var kernelBytes: Int { 64 * 1024 }

  /// Counts what `connection` holds after its turn, and ends it when that is beyond its source's share.
  func settle(_ connection: Connection) {
    let isUnfinished = connection.isUnfinished
    guard isUnfinished || connection.chargedBytes > 0 || connection.requestBytes > 0 || connection.isCounted,
      connections[connection.slot] === connection
    else { return }
    guard count(connection, isUnfinished: isUnfinished), charge(connection) else {
      turnAway(connection)
      return
    }
  }

  /// A proven connection counts again for its address for as long as something is unfinished.
  private func count(_ connection: Connection, isUnfinished: Bool) -> Bool {
    guard !connection.isFresh, let source = connection.source, case .address = source,
      isUnfinished != connection.isCounted
    else { return true }
    if isUnfinished {
      connection.isCounted = sources.admit(source)
      return connection.isCounted
    }
    connection.isCounted = false
    sources.release(source)
    return true
  }

  private func charge(_ connection: Connection) -> Bool {
    let bytes = max(0, connection.heldBytes - EventLoop.freeBytes)
    let more = bytes - connection.chargedBytes
    if more > 0 {
      guard sources.charge(more, to: connection.source) else { return false }
    } else if more < 0 {
      sources.discharge(-more, from: connection.source)
    }
    connection.chargedBytes = bytes
    return true
  }

  /// Tells the client why where that is possible: who does not read hears nothing.
  private func turnAway(_ connection: Connection) {
    counters.shed.add()
    guard !connection.hasOutbound else {
      close(connection)
      return
    }
    abandon(connection)
    connection.requestBytes = 0
    connection.answersHead = false
    refuse(connection, .serviceUnavailable, "Too much is unfinished here: try again in a few seconds.")
    flush(connection)
    guard connections[connection.slot] === connection else { return }
    // A refusal that does not go out at once is worth no memory.
    guard !connection.hasOutbound else {
      close(connection)
      return
    }
    settle(connection)
  }

  /// Gives back what the connection counts for.
  func giveBack(_ connection: Connection) {
    if let source = connection.source, connection.isCounted { sources.release(source) }
    connection.isCounted = false
    if connection.chargedBytes > 0 { sources.discharge(connection.chargedBytes, from: connection.source) }
    connection.chargedBytes = 0
  }
}

extension Connection {
  /// Whether somebody waits for the client: for the rest of a request, or for room to send.
  fileprivate var isUnfinished: Bool { phase == .head || phase == .body || hasOutbound }

  fileprivate var heldBytes: Int {
    var bytes = unread.capacity
    if let storage { bytes += storage.capacity }
    if phase == .handling { bytes += requestBytes }
    if hasOutbound { bytes += outbound.ownBytes + EventLoop.kernelBytes }
    return bytes
  }
}
