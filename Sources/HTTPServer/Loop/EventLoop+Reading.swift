internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform

// From readiness to requests.

extension EventLoop {
  func handle(_ events: Poller.Events, on connection: Connection) {
    if connection.phase == .handshake {
      shakeHands(connection)
      return
    }
    if connection.phase == .lingering {
      dropInput(of: connection)
      return
    }
    if connection.hasOutbound {
      if events.hasAny(of: .failed) { close(connection) } else { flushOutbound(of: connection) }
      return
    }
    if connection.phase == .handling {
      if events.hasAny(of: [.failed, .peerClosed]) {
        // The client is gone (or will not say more, which is how clients leave): nobody waits for the reply.
        close(connection)
      } else {
        // Pipelined requests wait in the socket until the reply is out.
        watch(connection, .peerClosed)
      }
      return
    }
    // What was read before comes first.
    guard connection.unread.isEmpty else {
      connection.mayHaveInput = true
      return
    }
    receive(on: connection)
    // An end that was reported together with the last request is not reported again.
    guard events.hasAny(of: [.peerClosed, .failed]) else { return }
    if connection.phase == .handling {
      close(connection)
    } else {
      connection.mayHaveInput = true
      readOn(connection)
    }
  }

  func receive(on connection: Connection) {
    connection.mayHaveInput = false
    if let tls = connection.tls {
      receive(on: connection, tls)
      return
    }
    let (count, code) = attempt {
      unsafe input.fill { unsafe recv(connection.descriptor, $0.baseAddress, $0.count, 0) }
    }
    // What comes after a read that did not fill the buffer is reported.
    connection.mayHaveInput = count == ReceiveBuffer.capacity || code == EINTR
    guard count > 0 else {
      if code != EAGAIN && code != EINTR { close(connection) }
      return
    }
    input.with(count) { process($0, on: connection) }
    flush(connection)
    if connection.mayHaveInput { readOn(connection) }
  }

  /// Reads more in another turn: a client that sends without a pause must not keep the loop from all others.
  private func readOn(_ connection: Connection) {
    guard self.connection(connection.id) != nil, connection.phase != .handling, connection.phase != .lingering,
      !connection.hasOutbound
    else { return }
    putOff(connection)
  }

  /// Reads what the session decrypted.
  ///
  /// OpenSSL may hold more than the socket shows, so this goes on until it is empty. No further: a client that sends
  /// without a pause must not keep the loop from all others, and epoll reports it again.
  private func receive(on connection: Connection, _ tls: TLSSession) {
    while true {
      switch tls.receive(into: input) {
      case .bytes(let count):
        input.with(count) { process($0, on: connection) }
        flush(connection)
        let goesOn = connection.phase != .handling && connection.phase != .lingering
        guard self.connection(connection.id) != nil, goesOn, connection.unread.isEmpty,
          !connection.hasOutbound, tls.hasPending
        else { return }
      case .wouldBlock:
        return
      case .ended:
        close(connection)
        return
      }
    }
  }

  /// Goes on with what was read earlier, then watches the socket again.
  func resume(_ connection: Connection) {
    // When the client does not read what it got, no more is made for it; `flushOutbound` comes back here.
    guard !connection.hasOutbound else { return }
    if connection.phase == .idle || connection.phase == .head || connection.phase == .body {
      if !connection.unread.isEmpty {
        let bytes = connection.unread
        connection.unread = []
        process(bytes.span, on: connection)
        flush(connection)
      } else if connection.mayHaveInput {
        receive(on: connection)
      }
    }
    guard self.connection(connection.id) != nil, connection.phase != .handling,
      connection.phase != .lingering, !connection.hasOutbound
    else { return }
    watch(connection, [.readable, .peerClosed])
    // Decrypted bytes do not make the socket readable.
    if let tls = connection.tls, tls.hasPending, connection.unread.isEmpty {
      receive(on: connection)
    } else if connection.mayHaveInput {
      putOff(connection)
    }
  }

  func watch(_ connection: Connection, _ interest: Poller.Events) {
    guard connection.interest != interest else { return }
    watchAnew(connection, interest)
  }

  /// Has epoll say again what is there already.
  func watchAnew(_ connection: Connection, _ interest: Poller.Events) {
    let isNew = connection.interest.isEmpty
    connection.interest = interest
    // News is told once: who was answered is not looked at again for having had something to say. OpenSSL reads as it
    // likes, so what it left must be reported again.
    let interest = connection.tls == nil ? interest.union(.edgeTriggered) : interest
    if isNew {
      // The kernel may have no memory left for it.
      let isWatched = (try? poller.add(connection.descriptor, interest, token: connection.id)) != nil
      if !isWatched { close(connection) }
    } else {
      try? poller.change(connection.descriptor, interest, token: connection.id)
    }
  }

  /// Answers every complete request in `bytes`; keeps what cannot be answered yet.
  func process(_ bytes: Span<UInt8>, on connection: Connection) {
    var at = 0
    var turns = 0
    while at < bytes.count {
      if connection.isClosing { return }
      // A pipeline of small requests for large replies must not fill the memory before the first reply is read.
      let isTurnOver =
        turns == configuration.pipelinedRequestsPerTurn || output.isEnough
      if connection.phase == .handling || isTurnOver {
        connection.unread.append(span: bytes, at..<bytes.count)
        // Others get their turn before the rest of a long pipeline.
        if connection.phase != .handling { putOff(connection) }
        return
      }
      do {
        if connection.phase == .body {
          try readBody(bytes, &at, on: connection)
        } else {
          try readHead(bytes, &at, on: connection)
        }
        if connection.phase == .body, isBodyComplete(of: connection) {
          turns += 1
          answer(connection)
        }
      } catch {
        refuse(connection, error)
        return
      }
    }
  }

  private func readHead(_ bytes: Span<UInt8>, _ at: inout Int, on connection: Connection)
    throws(MessageError)
  {
    let storage = connection.storage ?? borrowStorage(for: connection)
    let length: Int?
    if storage.head.isEmpty {
      let begun = try storage.begin(bytes.extracting(droppingFirst: at), limits: configuration.head)
      length = begun.length
      at += begun.taken
    } else {
      // The rest of a head that came in pieces. No more is copied than a head may have.
      let before = storage.head.count
      let room = configuration.head.line + configuration.head.fields + 2 - before
      let taken = min(bytes.count - at, max(room, 1))
      storage.head.append(span: bytes, at..<(at + taken))
      let soFar = storage.head
      length = try storage.parsed.parse(soFar.span, limits: configuration.head)
      if let length {
        storage.head.removeLast(storage.head.count - length)
        at += length - before
      } else {
        at += taken
      }
    }
    guard length != nil else {
      if connection.phase == .idle {
        connection.phase = .head
        // The first request's time runs from the start of the connection.
        if !connection.isFresh { setDeadline(connection, times.header) }
      }
      return
    }
    try beginBody(storage, on: connection, isMoreThere: at < bytes.count)
  }

  private func borrowStorage(for connection: Connection) -> RequestStorage {
    let storage = spare.take() ?? RequestStorage()
    storage.peer = connection.peer
    storage.isTLS = connection.tls != nil
    connection.storage = storage
    return storage
  }

  private func beginBody(
    _ storage: RequestStorage, on connection: Connection, isMoreThere: Bool
  ) throws(MessageError) {
    connection.phase = .body
    switch storage.parsed.framing {
    case .none, .untilClose:
      storage.missing = 0
      return
    case .length(let length):
      guard length <= configuration.bodyBytes else { throw .bodyTooLarge }
      storage.missing = length
      // The sender's word is not worth a large reservation.
      storage.body.reserveCapacity(min(length, 8192))
    case .chunked:
      storage.missing = nil
      storage.decoder = ChunkedDecoder(limit: configuration.bodyBytes)
    }
    setDeadline(connection, times.body)
    if storage.parsed.expectsContinue, !isMoreThere {
      output.bytes += "HTTP/1.1 100 Continue\r\n\r\n".utf8
    }
  }

  private func readBody(_ bytes: Span<UInt8>, _ at: inout Int, on connection: Connection)
    throws(MessageError)
  {
    guard let storage = connection.storage else { return }
    if let missing = storage.missing {
      let taken = min(missing, bytes.count - at)
      storage.body.append(span: bytes, at..<(at + taken))
      storage.missing = missing - taken
      at += taken
    } else {
      at = try storage.decoder.decode(bytes, from: at, into: &storage.body)
    }
  }

  private func isBodyComplete(of connection: Connection) -> Bool {
    guard let storage = connection.storage else { return false }
    return storage.missing.map { $0 == 0 } ?? storage.decoder.isComplete
  }
}
