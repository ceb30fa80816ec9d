internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform

// Reads from sockets and parses requests.

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
        // The client has closed the connection or its sending side. That is how clients leave, so the reply is no
        // longer needed.
        close(connection)
      } else {
        // Pipelined requests stay in the socket until the reply is sent.
        watch(connection, .peerClosed)
      }
      return
    }
    // Input that was read earlier is processed first.
    guard connection.unread.isEmpty else {
      connection.mayHaveInput = true
      return
    }
    receive(on: connection)
    // If the connection ended together with its last request, epoll has already reported the end and does not report it
    // again.
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
    // If the read did not fill the buffer, epoll reports later input.
    connection.mayHaveInput = count == ReceiveBuffer.capacity || code == EINTR
    guard count > 0 else {
      if code != EAGAIN && code != EINTR { close(connection) }
      return
    }
    input.with(count) { process($0, on: connection) }
    flush(connection)
    if connection.mayHaveInput { readOn(connection) }
  }

  /// Continues to read this connection after others were served, so that a client that sends without a pause does not
  /// block the loop.
  private func readOn(_ connection: Connection) {
    guard self.connection(connection.id) != nil, connection.phase != .handling, connection.phase != .lingering,
      !connection.hasOutbound
    else { return }
    putOff(connection)
  }

  /// Reads decrypted bytes from the TLS session.
  ///
  /// Reading repeats only while OpenSSL holds decrypted bytes, of which epoll knows nothing. epoll reports further
  /// input, and a client that sends without a pause must not block the loop.
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

  /// Processes input that was read earlier, then watches the socket again.
  func resume(_ connection: Connection) {
    // While the client does not read its responses, no more responses are made for it. `flushOutbound` calls this
    // again.
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
    // epoll does not report bytes that OpenSSL has already decrypted, so read them now.
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

  /// Registers the events again, which makes epoll also report input that has already arrived.
  func watchAnew(_ connection: Connection, _ interest: Poller.Events) {
    let isNew = connection.interest.isEmpty
    connection.interest = interest
    // Plain connections are edge-triggered, so that epoll reports input once and not after each response. With TLS,
    // OpenSSL may leave input in the socket, and epoll must report it again.
    let interest = connection.tls == nil ? interest.union(.edgeTriggered) : interest
    if isNew {
      // Registering fails if the kernel has no memory for another entry in epoll.
      let isWatched = (try? poller.add(connection.descriptor, interest, token: connection.id)) != nil
      if !isWatched { close(connection) }
    } else {
      try? poller.change(connection.descriptor, interest, token: connection.id)
    }
  }

  /// Parses `bytes` and answers every complete request; keeps an incomplete request for later.
  func process(_ bytes: Span<UInt8>, on connection: Connection) {
    var at = 0
    var turns = 0
    while at < bytes.count {
      if connection.isClosing { return }
      // Small pipelined requests for large responses must not fill the memory before the client reads the first
      // response.
      let isTurnOver =
        turns == configuration.pipelinedRequestsPerTurn || output.isEnough
      if connection.phase == .handling || isTurnOver {
        connection.unread.append(span: bytes, at..<bytes.count)
        // Other connections are served before the rest of a long pipeline of requests.
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
      // The head arrives in pieces. Copy at most as many bytes as a head may have.
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
        // The deadline of the first request runs from the start of the connection.
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
      // Reserves little memory, because the client only claims this length.
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
