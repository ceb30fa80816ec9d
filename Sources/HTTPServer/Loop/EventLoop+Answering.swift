internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform

// From requests to replies.

extension EventLoop {
  /// Has the complete request answered.
  func answer(_ connection: Connection) {
    guard var storage = connection.storage.take() else { return }
    connection.answersHead = storage.parsed.method == .head
    connection.answersLast = storage.parsed.wantsClose
    if storage.parsed.method == .trace {
      // TRACE would show a script in a browser the cookies that are hidden from it.
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
      // It may be the client's end that was not read: nobody would wait for the reply.
      if connection.mayHaveInput, !connection.interest.isEmpty { watchAnew(connection, [.readable, .peerClosed]) }
      start(PendingReply(ticket: ticket))
    }
    // Kept for the next request when nobody else has it any more.
    if isKnownUniquelyReferenced(&storage) {
      storage.reset()
      spare = storage
    }
  }

  /// A valid request was read: the connection counts no more for its address, until something is unfinished again.
  private func prove(_ connection: Connection) {
    connection.isFresh = false
    if connection.isCounted, let source = connection.source, case .address = source {
      connection.isCounted = false
      sources.release(source)
    }
  }

  /// The handler's reply.
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

  /// The engine's own answer to what is not a valid request; it is the last on its connection.
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
    // Some of these statuses may be kept by caches that are told nothing.
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
      // A reply that was completed in this very moment is in the mailbox.
      guard abandon(connection) else { return }
      counters.timedOut.add()
      refuse(connection, .serviceUnavailable, "The answer did not come in time.")
      flush(connection)
    }
  }

  /// Tells the handler that nobody waits for its reply; false when none was owed.
  @discardableResult
  func abandon(_ connection: Connection) -> Bool {
    guard let ticket = connection.ticket.take(), ticket.abandon() else { return false }
    counters.abandoned.add()
    return true
  }
}
