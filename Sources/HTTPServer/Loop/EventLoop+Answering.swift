internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform

// Passes requests to handlers and their responses to the output.

extension EventLoop {
  /// Passes the complete request to the handler.
  func answer(_ connection: Connection) {
    guard var storage = connection.storage.take() else { return }
    connection.answersHead = storage.parsed.method == .head
    connection.answersLast = storage.parsed.wantsClose
    if storage.parsed.method == .trace {
      // A response to TRACE would show HttpOnly cookies to a script in a browser.
      connection.mustLinger = true
      counters.refused.add()
      send(traceRefusal, on: connection, closes: true)
      return
    }
    prove(connection)
    connection.turnMark = order.mark
    counters.requests.add()
    switch connection.service.answer(Request(storage: storage, remembered: connection.remembered)) {
    case .now(let response):
      if let remembered = response.remembered { connection.remembered = remembered }
      finish(connection, with: response)
    case .later(let start):
      let ticket = ReplyTicket(sink: self, connection: connection.id)
      connection.ticket = ticket
      connection.remembered = nil
      connection.phase = .handling
      connection.requestBytes = storage.capacity
      setDeadline(connection, times.reply)
      // The unread input may be the end of the connection. Registering the socket again makes epoll report that end, so
      // that the handler prepares no reply for a client that has left.
      if connection.mayHaveInput, !connection.interest.isEmpty { watchAnew(connection, [.readable, .peerClosed]) }
      start(PendingReply(ticket: ticket))
    }
    // Keeps the storage of this request for the next one, unless the handler still uses it.
    if isKnownUniquelyReferenced(&storage) {
      storage.reset()
      spare = storage
    }
  }

  /// Stops counting the connection for its client's address, because it has sent a valid request.
  ///
  /// `count` counts it again while a request or response is unfinished.
  private func prove(_ connection: Connection) {
    connection.isFresh = false
    if connection.isCounted, let source = connection.source, case .address = source {
      connection.isCounted = false
      sources.release(source)
    }
  }

  /// Sends the handler's response.
  func finish(_ connection: Connection, with response: Response) {
    let isLater = connection.phase == .handling
    connection.phase = .idle
    connection.requestBytes = 0
    let closes =
      connection.answersLast || response.closesConnection || drainsUntil != nil
    if response.isFaulty {
      counters.faulty.add()
      send(Response(.internalServerError), on: connection, closes: closes)
    } else {
      send(response, on: connection, closes: closes)
    }
    guard isLater else { return }
    flush(connection)
    if self.connection(connection.id) != nil, connection.phase == .idle { resume(connection) }
  }

  private func send(_ response: Response, on connection: Connection, closes: Bool) {
    date.refresh(now: now)
    output.add(response, date: date.bytes, toHead: connection.answersHead, closes: closes)
    if closes {
      connection.isClosing = true
    } else {
      setDeadline(connection, times.idle)
    }
  }

  /// Sends the server's own response to an invalid request and closes the connection after it.
  func refuse(_ connection: Connection, _ error: MessageError) {
    counters.refused.add()
    connection.answersHead = false
    refuse(connection, error.status, error.description)
  }

  func refuse(_ connection: Connection, _ status: Status, _ sentence: String) {
    var atPath: Response?
    if connection.phase == .body, let storage = connection.storage, let refusal = configuration.refusalAtPath {
      atPath = refusal(status, Array(storage.head[storage.parsed.path.indices]))
    }
    connection.storage = nil
    connection.unread = []
    connection.mustLinger = true
    connection.phase = .idle
    var response = atPath ?? configuration.refusal(status, sentence)
    // Caches may store responses with some of these statuses if no header forbids it.
    if atPath == nil { response.addHeader(.cacheControl, "no-store") }
    send(response, on: connection, closes: true)
  }

  private var traceRefusal: Response {
    var response = configuration.refusal(.methodNotAllowed, "TRACE is not allowed.")
    response.addHeader(.allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    response.addHeader(.cacheControl, "no-store")
    return response
  }

  func deadlinePassed(of connection: Connection) {
    if connection.hasOutbound {
      counters.timedOut.add()
      close(connection)
      return
    }
    switch connection.phase {
    case .idle, .lingering:
      if connection.isFresh { counters.timedOut.add() }
      close(connection)
    case .handshake:
      counters.timedOut.add()
      close(connection)
    case .head, .body:
      counters.timedOut.add()
      connection.answersHead = false
      refuse(connection, .requestTimeout, "The request did not arrive in time.")
      flush(connection)
    case .handling:
      // If the reply was completed at this moment, it is already in the mailbox and will be sent.
      guard abandon(connection) else { return }
      counters.timedOut.add()
      refuse(connection, .serviceUnavailable, "The answer did not come in time.")
      flush(connection)
    }
  }

  /// Tells the handler that the reply is no longer needed; returns false if no reply was pending.
  @discardableResult
  func abandon(_ connection: Connection) -> Bool {
    guard let ticket = connection.ticket.take(), ticket.abandon() else { return false }
    counters.abandoned.add()
    return true
  }
}
