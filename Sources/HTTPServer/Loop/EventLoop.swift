internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform
internal import Synchronization

/// A thread that serves many connections: it waits in epoll, reads, calls handlers, writes and enforces deadlines.
///
/// `@unchecked Sendable`, because: 1. only its thread, from `run` on, uses everything below "the loop's own"; 2. what
/// other threads may use (`mailbox`, `load`, `counters`) is itself safe to share.
final class EventLoop: @unchecked Sendable, ReplySink {
  let mailbox: LoopMailbox
  /// The number of connections that the loop has or will get; the acceptor adds, the loop subtracts.
  let load = Atomic<Int>(0)
  let counters = LoopCounters()
  let configuration: ServerConfiguration
  let times: Milliseconds
  let sources: SourceLimiter

  /// Whether a `makeRoom` message is in the mailbox.
  let isAskedForRoom = Atomic<Bool>(false)

  // The loop's own: only its thread uses what follows.
  /// The slot at which the last search for idle connections ended.
  var roomCursor = 0
  let poller: Poller
  var connections: [Connection?] = []
  var freeSlots: [Int] = []
  var generation: UInt64 = 0
  var wheel: TimerWheel
  var now: UInt64
  /// The connections that wait to be served.
  var order = TurnOrder()
  /// The responses that are being made for one connection.
  var output = TurnOutput()
  let input: ReceiveBuffer
  var spare: RequestStorage? = RequestStorage()
  var date: DateLine
  var drainsUntil: UInt64?

  init(configuration: ServerConfiguration, sources: SourceLimiter) throws(ServerError) {
    self.configuration = configuration
    self.sources = sources
    times = Milliseconds(configuration.deadlines)
    date = DateLine(standing: configuration.standingHeaders)
    mailbox = try LoopMailbox()
    input = ReceiveBuffer()
    now = monotonicMilliseconds()
    wheel = TimerWheel(now: now)
    do throws(SystemError) {
      // The capacity is small, because a new connection waits until all events that were reported together are handled.
      let poller = try Poller(capacity: 64)
      try poller.add(mailbox.wakeUp.number, [.readable, .edgeTriggered], token: EventLoop.wakeUpID)
      self.poller = poller
    } catch {
      throw .resources(reason: "epoll: \(reasonText(of: error.code))")
    }
  }

  private static let wakeUpID = UInt64.max

  /// Serves connections until the server is stopped and they have ended.
  func run() {
    var messages: [LoopMessage] = []
    var expired: [Int] = []
    while true {
      let count = wait()
      now = monotonicMilliseconds()
      for index in 0..<count {
        let event = poller.event(index)
        guard event.token != EventLoop.wakeUpID else { continue }
        // If only one connection has an event, it is served at once. That is the usual case in a service with little
        // load.
        if let connection = connection(event.token),
          count == 1 && order.isEmpty || !letsOthersGoFirst(connection, event.events)
        {
          handle(event.events, on: connection)
          settle(connection)
        }
      }
      mailbox.take(&messages)
      for message in messages { read(message) }
      messages.removeAll(keepingCapacity: messages.count < 1024)
      if order.endLook() { takeTurns() }
      wheel.advance(to: now, expired: &expired)
      for slot in expired {
        if let connection = connections[slot] {
          deadlinePassed(of: connection)
          settle(connection)
        }
      }
      expired.removeAll(keepingCapacity: true)
      if let drainsUntil, isDrained(by: drainsUntil) { break }
    }
    end()
  }

  /// Waits for an event, a message or a deadline; returns the number of events.
  private func wait() -> Int {
    guard order.isEmpty, mailbox.sleepUnlessFull() else { return poller.wait(milliseconds: 0) }
    var wakeAt = wheel.nextWake
    if let drainsUntil { wakeAt = min(wakeAt ?? drainsUntil, drainsUntil) }
    var timeout: Int32 = -1
    if let wakeAt {
      let now = monotonicMilliseconds()
      timeout = wakeAt > now ? Int32(min(wakeAt - now, 3_600_000)) : 0
    }
    let count = poller.wait(milliseconds: timeout)
    mailbox.wake()
    return count
  }

  private func read(_ message: LoopMessage) {
    switch message {
    case .adopt(let accepted): adopt(accepted)
    case .reply(let response, let id):
      if let connection = connection(id), connection.phase == .handling {
        connection.ticket = nil
        finish(connection, with: response)
        settle(connection)
      }
    case .makeRoom: makeRoom()
    case .pulse: counters.pulses.add()
    case .drain(let until):
      drainsUntil = until
      for case let connection? in connections where connection.phase == .idle {
        guard !connection.hasOutbound, connection.unread.isEmpty else { continue }
        // A request that arrived before the server was stopped is still answered.
        receive(on: connection)
        if self.connection(connection.id) != nil, connection.phase == .idle,
          !connection.hasOutbound
        {
          close(connection)
        }
      }
    }
  }

  /// Queues a reply that a handler has completed; may be called from any thread.
  func deliver(_ response: Response, to connection: UInt64) {
    mailbox.post(.reply(response, connection: connection))
  }

  func connection(_ id: UInt64) -> Connection? {
    let slot = Int(id & 0xFFFF_FFFF)
    guard slot < connections.count, let found = connections[slot], found.id == id else {
      return nil
    }
    return found
  }
}

// MARK: - Too many connections

extension EventLoop {
  /// Asks the loop to close idle connections, because the limit is near; called by the acceptor.
  func askForRoom() {
    guard !isAskedForRoom.exchange(true, ordering: .relaxed) else { return }
    mailbox.post(.makeRoom)
  }

  /// Closes connections that have sent a request before and are idle now.
  ///
  /// Otherwise one client with many connections and an occasional request on each could lock out all others.
  private func makeRoom() {
    isAskedForRoom.store(false, ordering: .relaxed)
    var wanted = max(1, configuration.connectionHeadroom / max(1, configuration.loops))
    for _ in connections.indices where wanted > 0 {
      roomCursor = (roomCursor + 1) % connections.count
      guard let connection = connections[roomCursor], connection.phase == .idle,
        !connection.isFresh, !connection.hasOutbound, connection.unread.isEmpty
      else { continue }
      // A request that has just arrived on an idle connection is still answered.
      receive(on: connection)
      guard self.connection(connection.id) != nil, connection.phase == .idle,
        !connection.hasOutbound
      else { continue }
      counters.evicted.add()
      close(connection)
      wanted -= 1
    }
  }
}

// MARK: - Beginning and end

extension EventLoop {
  private func adopt(_ accepted: AcceptedConnection) {
    let slot = freeSlots.popLast() ?? connections.count
    if slot == connections.count { connections.append(nil) }
    generation &+= 1
    let id = UInt64(slot) | (generation & 0x7FFF_FFFF) << 32
    var session: TLSSession?
    if let context = accepted.service.tls {
      session = context.newSession(descriptor: accepted.descriptor)
    }
    let connection = Connection(
      descriptor: accepted.descriptor, id: id, peer: accepted.peer, service: accepted.service,
      tls: session, source: accepted.countedSource)
    connections[slot] = connection
    counters.open.add()
    let isServed = accepted.service.tls == nil || session != nil
    guard isServed, drainsUntil == nil else {
      close(connection)
      return
    }
    setDeadline(connection, times.header)
    // The first request has often arrived already. If the client closes the connection after that request, the
    // connection is never added to epoll.
    handle(.readable, on: connection)
    settle(connection)
    if self.connection(id) != nil, connection.interest.isEmpty {
      watch(connection, [.readable, .peerClosed])
    }
  }

  /// Whether all connections have ended.
  ///
  /// Closes those that are left when the time is up.
  private func isDrained(by limit: UInt64) -> Bool {
    if now >= limit {
      for case let connection? in connections { close(connection) }
    }
    return counters.open.now == 0
  }

  private func end() {
    for message in mailbox.shut() {
      if case .adopt(let accepted) = message {
        Glibc.close(accepted.descriptor)
        accepted.countedSource.map(sources.release)
      }
    }
  }

  func setDeadline(_ connection: Connection, _ duration: UInt64) {
    wheel.set(connection.slot, at: now &+ duration)
  }
}

/// The server's deadlines, converted to milliseconds.
struct Milliseconds {
  let header, body, reply, write, idle, lingering: UInt64

  init(_ deadlines: Deadlines) {
    header = deadlines.header.milliseconds
    body = deadlines.body.milliseconds
    reply = deadlines.reply.milliseconds
    write = deadlines.write.milliseconds
    idle = deadlines.idle.milliseconds
    lingering = deadlines.lingering.milliseconds
  }
}

/// The counters of one event loop.
final class LoopCounters: Sendable {
  let open = Counter()
  let requests = Counter()
  let refused = Counter()
  let timedOut = Counter()
  let abandoned = Counter()
  let faulty = Counter()
  let failedHandshakes = Counter()
  let evicted = Counter()
  let shed = Counter()
  let pulses = Counter()
}
