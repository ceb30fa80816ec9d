internal import CRegentLinux
internal import Glibc
internal import RegentHTTPCodec
internal import RegentPlatform
internal import Synchronization

/// The thread that accepts connections and gives each to the loop with the fewest connections.
///
/// `@unchecked Sendable`, because: 1. only its thread uses `reserve` and `arrivals`; 2. everything else is constant or
/// atomic.
final class Acceptor: @unchecked Sendable {
  let accepted = Counter()
  let shed = Counter()
  let pauses = Counter()

  private let listeners: [(socket: ListeningSocket, service: ListenerService)]
  private let loops: [EventLoop]
  private let configuration: ServerConfiguration
  private let sources: SourceLimiter
  private let wakeUp: WakeUp
  private let isStopping = Atomic<Bool>(false)
  /// A spare file descriptor.
  ///
  /// When the process has no other descriptors left, the acceptor closes this one for a moment. It can then accept a
  /// waiting connection and close it at once.
  private var reserve: Int32
  /// For each event loop, the accepted connections that were not handed over to it yet.
  private var arrivals: [[LoopMessage]]

  init(
    _ listeners: [(socket: ListeningSocket, service: ListenerService)], loops: [EventLoop],
    configuration: ServerConfiguration, sources: SourceLimiter
  ) throws(ServerError) {
    self.listeners = listeners
    self.loops = loops
    self.configuration = configuration
    self.sources = sources
    arrivals = Array(repeating: [], count: loops.count)
    wakeUp = try makeWakeUp()
    reserve = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
  }

  deinit { if reserve >= 0 { close(reserve) } }

  /// Makes the acceptor's `run` end.
  ///
  /// Any thread may call this.
  func stop() {
    isStopping.store(true, ordering: .releasing)
    wakeUp.signal()
  }

  /// Accepts connections until `stop` is called, then closes the listening sockets.
  func run() {
    var waiting = listeners.map {
      pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0)
    }
    waiting.append(pollfd(fd: wakeUp.number, events: Int16(POLLIN), revents: 0))
    var last: UInt64 = 0
    while !isStopping.load(ordering: .acquiring) {
      guard unsafe poll(&waiting, nfds_t(waiting.count), -1) > 0 else { continue }
      let now = Clocks.bootNanoseconds()
      if now &- last < Acceptor.closely { gather() }
      last = now
      for (index, listener) in listeners.enumerated() where waiting[index].revents != 0 {
        let isDone = acceptSome(listener.socket.descriptor, listener.service)
        handOver()
        guard isDone else {
          pauseBecauseFull(listener.socket.descriptor)
          break
        }
      }
    }
    for listener in listeners { listener.socket.close() }
  }

  /// Connections that arrive within this time of each other are handed over together, in nanoseconds.
  private static let closely: UInt64 = 500_000

  /// Waits a quarter of a millisecond for more connections, as a network card does for packets under load.
  ///
  /// Waking two threads for each connection takes longer than serving it. A client that is just connecting does not
  /// notice the delay, and a connection that comes alone is not delayed.
  private func gather() {
    var pause = timespec(tv_sec: 0, tv_nsec: 250_000)
    unsafe nanosleep(&pause, nil)
  }

  /// Gives each event loop its new connections and wakes it once.
  private func handOver() {
    for index in loops.indices where !arrivals[index].isEmpty {
      loops[index].mailbox.post(arrivals[index])
      arrivals[index].removeAll(keepingCapacity: true)
    }
  }

  /// The maximum number of connections that are accepted from one listener before those of the next listener are
  /// accepted.
  private static let batch = 64

  /// Accepts the connections that wait on a listener.
  ///
  /// Returns false if there are no file descriptors or no memory left.
  private func acceptSome(_ listener: Int32, _ service: ListenerService) -> Bool {
    let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    for _ in 0..<Acceptor.batch {
      var address = SocketAddress()
      let (descriptor, code) = attempt {
        unsafe address.fill { unsafe accept4(listener, $0, $1, flags) }
      }
      guard descriptor >= 0 else {
        switch code {
        case EAGAIN: return true
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return false
        // One connection failed before it was accepted. Go on with the next connection.
        default: continue
        }
      }
      accepted.add()
      admit(descriptor, address, service)
    }
    return true
  }

  private func admit(_ descriptor: Int32, _ address: SocketAddress, _ service: ListenerService) {
    guard let peer = address.peer ?? credentials(of: descriptor).map(Peer.local) else {
      close(descriptor)
      return
    }
    var quietest = 0
    var least = Int.max
    var total = 0
    for index in loops.indices {
      let load = loops[index].load.load(ordering: .relaxed)
      total += load
      if load < least { (quietest, least) = (index, load) }
    }
    if total >= configuration.connections - configuration.connectionHeadroom { askForRoom() }
    guard total < configuration.connections else {
      turnAway(descriptor, service)
      return
    }
    let candidates = countedSources(of: peer)
    let source = candidates.first { sources.admit($0) }
    guard source != nil || candidates.isEmpty else {
      turnAway(descriptor, service)
      return
    }
    loops[quietest].load.add(1, ordering: .relaxed)
    arrivals[quietest].append(
      .adopt(
        AcceptedConnection(descriptor: descriptor, peer: peer, service: service, countedSource: source)))
  }

  /// The sources (address, user, groups) for which a new connection may be counted, in the order to try.
  ///
  /// The connection counts for the first source that is below its limit.
  ///
  /// Empty if no limit applies to this peer.
  private func countedSources(of peer: Peer) -> [CountedSource] {
    switch peer {
    case .network(let address, _):
      return configuration.countsSource(address) ? [.address(address.source)] : []
    case .local(let who):
      guard let favoured = configuration.favouredUsers, !favoured.contains(who.user) else { return [] }
      guard let named = configuration.namedUsers, !named.users.contains(who.user) else { return [.user(who.user)] }
      return named.groups.filter { who.isMember(of: $0) }.map(CountedSource.group) + [.stranger(who.user)]
    }
  }

  /// Asks the event loops to close idle connections, so that there is room for new ones.
  private func askForRoom() { for loop in loops { loop.askForRoom() } }

  /// Closes a connection that exceeds a limit.
  ///
  /// Without TLS it sends a 503 first; a TLS handshake would cost too much.
  private func turnAway(_ descriptor: Int32, _ service: ListenerService) {
    shed.add()
    if service.tls == nil {
      let bytes = Acceptor.fullReply
      _ = unsafe bytes.withUnsafeBytes { buffer in
        unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
      }
      shutdown(descriptor, Int32(SHUT_WR))
    }
    close(descriptor)
  }

  private static let fullReply = Array(
    """
    HTTP/1.1 503 Service Unavailable\r
    Retry-After: 5\r
    Content-Length: 0\r
    Connection: close\r
    \r

    """.utf8)

  /// Handles a lack of file descriptors.
  ///
  /// Without a pause, poll would report the waiting connections again and again, although none can be accepted.
  ///
  /// The acceptor closes its reserve descriptor, so that it can accept and close some waiting connections. Their
  /// clients then know at once that they are refused. Then it pauses for 50 ms, in which other connections may end.
  private func pauseBecauseFull(_ listener: Int32) {
    pauses.add()
    askForRoom()
    for _ in 0..<16 {
      if reserve >= 0 { close(reserve) }
      let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      let descriptor = accept4(listener, nil, nil, flags)
      if descriptor >= 0 {
        accepted.add()
        shed.add()
        close(descriptor)
      }
      reserve = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0, reserve >= 0 else { break }
    }
    var waiting = pollfd(fd: wakeUp.number, events: Int16(POLLIN), revents: 0)
    unsafe poll(&waiting, 1, 50)
  }
}

/// The handler and the TLS context that all connections of one listener share.
final class ListenerService: Sendable {
  /// The handler as a closure, which is called without copying an existential value.
  let answer: @Sendable (Request) -> Answer
  let tls: TLSContext?

  init(handler: some Handler, tls: TLSContext?) {
    answer = { handler.handle($0) }
    self.tls = tls
  }
}
