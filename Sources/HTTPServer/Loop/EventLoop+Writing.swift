internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform
internal import Synchronization

// Sends responses and closes connections.

extension EventLoop {
  /// Sends the responses that were just made for a connection, and stores the bytes for which the socket has no room.
  func flush(_ connection: Connection) {
    var made = TurnOutput()
    swap(&made, &output)
    defer {
      made.reset()
      swap(&made, &output)
    }
    if connection.hasOutbound {
      connection.outbound.append(made.bytes)
      connection.outbound.append(made.largeBody, isShared: made.isLargeBodyShared)
      return
    }
    guard let sent = transmitted(made.bytes, isMoreComing: !made.largeBody.isEmpty, on: connection) else {
      return
    }
    if sent < made.bytes.count {
      connection.outbound.append(Array(made.bytes[sent...]))
      connection.outbound.append(made.largeBody, isShared: made.isLargeBodyShared)
    } else if !made.largeBody.isEmpty {
      guard let sent = transmitted(made.largeBody, isMoreComing: false, on: connection) else { return }
      connection.outbound.append(made.largeBody, from: sent, isShared: made.isLargeBodyShared)
    }
    if connection.hasOutbound {
      setDeadline(connection, times.write)
      watchForRoom(connection)
    } else if connection.isClosing {
      finishClosing(connection)
    }
  }

  /// Sends bytes and returns how many the socket took; nil if the connection has ended.
  private func transmitted(_ bytes: [UInt8], isMoreComing: Bool, on connection: Connection) -> Int? {
    if bytes.isEmpty { return 0 }
    switch transmit(bytes, from: 0, isMoreComing: isMoreComing, on: connection) {
    case .bytes(let count): return count
    case .wouldBlock: return 0
    case .ended:
      close(connection)
      return nil
    }
  }

  /// Sends more of the output that was stored because the socket had no room.
  func flushOutbound(of connection: Connection) {
    while connection.hasOutbound {
      let outbound = connection.outbound
      switch transmit(outbound.first, from: outbound.start, isMoreComing: false, on: connection) {
      case .bytes(let count): connection.outbound.advance(count)
      case .wouldBlock:
        watchForRoom(connection)
        return
      case .ended:
        close(connection)
        return
      }
    }
    if connection.isClosing {
      finishClosing(connection)
    } else if connection.phase == .handling {
      setDeadline(connection, times.reply)
      watch(connection, [.readable, .peerClosed])
    } else {
      setDeadline(connection, times.idle)
      resume(connection)
    }
  }

  private func watchForRoom(_ connection: Connection) {
    // A TLS session may have to read before it can write.
    let needsInput = connection.tls?.wantsInput == true
    watch(connection, needsInput ? [.readable, .writable] : .writable)
  }

  private func transmit(
    _ bytes: [UInt8], from start: Int, isMoreComing: Bool, on connection: Connection
  ) -> TransferResult {
    if let tls = connection.tls { return tls.transmit(bytes, from: start) }
    // Lets the kernel send the head and the body that follows in one packet.
    let flags = Int32(MSG_NOSIGNAL) | (isMoreComing ? Int32(MSG_MORE) : 0)
    let (count, code) = unsafe bytes.withUnsafeBufferPointer { buffer in
      let rest = unsafe UnsafeBufferPointer(rebasing: buffer[start...])
      return attempt { unsafe Glibc.send(connection.descriptor, rest.baseAddress, rest.count, flags) }
    }
    if count >= 0 { return .bytes(count) }
    return code == EAGAIN || code == EINTR ? .wouldBlock : .ended
  }

  /// Ends a connection after all output is sent.
  ///
  /// If the client may still be sending, its bytes are read and dropped first. Closing a socket with unread input makes
  /// the kernel reset the connection, and the client would lose the response.
  private func finishClosing(_ connection: Connection) {
    connection.tls?.sendCloseNotice()
    connection.phase = .lingering
    connection.unread = []
    if dropInput(of: connection) {
      shutdown(connection.descriptor, Int32(SHUT_WR))
      setDeadline(connection, times.lingering)
      watch(connection, .readable)
    }
  }

  /// Reads and drops input.
  ///
  /// Closes the connection when the input ends or there is too much of it. Returns whether the connection is still
  /// open.
  @discardableResult
  func dropInput(of connection: Connection) -> Bool {
    while true {
      let (count, code) = attempt {
        unsafe input.fill { unsafe recv(connection.descriptor, $0.baseAddress, $0.count, 0) }
      }
      if code == EINTR { continue }
      if code == EAGAIN {
        // After the last response to a valid request the client sends no more. After a refusal much input may be on its
        // way.
        if connection.mustLinger || connection.dropped > 0 { return true }
        close(connection)
        return false
      }
      connection.dropped += Int32(max(0, count))
      guard count > 0, connection.dropped < EventLoop.dropLimit else {
        close(connection)
        return false
      }
    }
  }

  /// The maximum number of bytes that are read from a refused client before its connection is cut.
  private static var dropLimit: Int32 { 512 * 1024 }

  /// Closes the connection.
  ///
  /// If its reply is pending, the handler is told that it is no longer needed.
  func close(_ connection: Connection) {
    let slot = connection.slot
    guard connections[slot] === connection else { return }
    connections[slot] = nil
    freeSlots.append(slot)
    wheel.cancel(slot)
    Glibc.close(connection.descriptor)
    counters.open.add(-1)
    load.subtract(1, ordering: .relaxed)
    giveBack(connection)
    abandon(connection)
  }
}

/// The result of an attempt to read from or write to a socket.
enum TransferResult {
  case bytes(Int)
  case wouldBlock
  case ended
}
