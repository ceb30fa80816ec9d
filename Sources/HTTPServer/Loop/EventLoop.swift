internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform
internal import Synchronization

/// One thread that serves many connections: it waits in epoll, reads, has requests answered, writes, and keeps
/// deadlines.
///
/// `@unchecked Sendable`, because: 1. everything below "the loop's own" is touched by its thread alone, from `run` on;
/// 2. what other threads may touch (`mailbox`, `load`, `counters`) is itself safe to share.
final class EventLoop: @unchecked Sendable, ReplySink {
  let mailbox: LoopMailbox
  /// How many connections it has or is about to have; the acceptor counts up, the loop down.
  let load = Atomic<Int>(0)
  let counters = LoopCounters()
  let configuration: ServerConfiguration
  let times: Milliseconds
  let sources: SourceLimiter

  /// Whether a letter that asks for room is under way.
  let isAskedForRoom = Atomic<Bool>(false)

  // The loop's own.
  /// Where the last search for idle connections ended.
  var roomCursor = 0
  let poller: Poller
  var connections: [Connection?] = []
  var freeSlots: [Int] = []
  var generation: UInt64 = 0
  var wheel: TimerWheel
  var now: UInt64
  /// Connections that are owed another turn.
  var order = TurnOrder()
  /// What the turn of one connection has made for it.
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
      // Not more at once: who connects waits until all that were reported together have been served.
      let poller = try Poller(capacity: 64)
      try poller.add(mailbox.wakeUp.number, [.readable, .edgeTriggered], token: EventLoop.wakeUpID)
      self.poller = poller
    } catch {
      throw .resources(reason: "epoll: \(reasonText(of: error.code))")
    }
  }

  private static let wakeUpID = UInt64.max

  /// Serves until drained.
  func run() {
    var messages: [LoopMessage] = []
    var expired: [Int] = []
    while true {
      let count = wait()
      now = monotonicMilliseconds()
      for index in 0..<count {
        let event = poller.event(index)
        guard event.token != EventLoop.wakeUpID else { continue }
        // Alone it need not wait: this is what most looks of a service bring that has little to do.
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

  /// Sleeps until there is something to do: news, a letter, a deadline.
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
        // A request that arrived before the end was announced is still answered.
        receive(on: connection)
        if self.connection(connection.id) != nil, connection.phase == .idle,
          !connection.hasOutbound
        {
          close(connection)
        }
      }
    }
  }

  /// From any thread: a handler completed a reply.
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
  /// From the acceptor: the limit is near.
  func askForRoom() {
    guard !isAskedForRoom.exchange(true, ordering: .relaxed) else { return }
    mailbox.post(.makeRoom)
  }

  /// Closes connections that were served before and only wait for a next request.
  ///
  /// Otherwise one client that sends a request now and then on each of many connections keeps everybody else out.
  private func makeRoom() {
    isAskedForRoom.store(false, ordering: .relaxed)
    var wanted = max(1, configuration.connectionHeadroom / max(1, configuration.loops))
    for _ in connections.indices where wanted > 0 {
      roomCursor = (roomCursor + 1) % connections.count
      guard let connection = connections[roomCursor], connection.phase == .idle,
        !connection.isFresh, !connection.hasOutbound, connection.unread.isEmpty
      else { continue }
      // A request that has just arrived is still answered.
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
    // The first request is often there already; when it is also the last, epoll never hears of the connection.
    handle(.readable, on: connection)
    settle(connection)
    if self.connection(id) != nil, connection.interest.isEmpty {
      watch(connection, [.readable, .peerClosed])
    }
  }

  /// Whether nothing is left; when the time is up the rest is cut.
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

/// The deadlines in milliseconds.
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

/// What one loop counts.
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
