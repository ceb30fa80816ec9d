internal import RegentHTTPCodec

// Counts the memory that a connection uses each time after it was served. A client that has sent a valid request is
// counted too. Otherwise clients could send one valid request each, and then fill the memory with thousands of
// unfinished bodies or unread responses.

extension EventLoop {
  /// The number of bytes that each connection may hold without being counted.
  ///
  /// A form that arrives in two packets is therefore accepted even when the budget is used up.
  static var freeBytes: Int { 4 * 1024 }
  /// The bytes of an unread response that the kernel may store (`TCP_NOTSENT_LOWAT`).
  ///
  /// They are counted for the connection too.
  static var kernelBytes: Int { 64 * 1024 }

  /// Counts the memory that `connection` uses after it was served, and refuses the connection if that exceeds the limit
  /// of its source.
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

  /// Counts a connection for its client's address again while a request or response is unfinished, also after a valid
  /// request.
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

  /// Closes a connection over the limit, with a 503 if possible.
  ///
  /// A client that does not read its response gets no 503.
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
    // If the 503 cannot be sent at once, the connection is closed, because storing it would take more memory.
    guard !connection.hasOutbound else {
      close(connection)
      return
    }
    settle(connection)
  }

  /// Stops counting a connection and its memory when it ends.
  func giveBack(_ connection: Connection) {
    if let source = connection.source, connection.isCounted { sources.release(source) }
    connection.isCounted = false
    if connection.chargedBytes > 0 { sources.discharge(connection.chargedBytes, from: connection.source) }
    connection.chargedBytes = 0
  }
}

extension Connection {
  /// Whether the server waits for the client: for the rest of a request, or until the client reads the response.
  fileprivate var isUnfinished: Bool { phase == .head || phase == .body || hasOutbound }

  fileprivate var heldBytes: Int {
    var bytes = unread.capacity
    if let storage { bytes += storage.capacity }
    if phase == .handling { bytes += requestBytes }
    if hasOutbound { bytes += outbound.ownBytes + EventLoop.kernelBytes }
    return bytes
  }
}
