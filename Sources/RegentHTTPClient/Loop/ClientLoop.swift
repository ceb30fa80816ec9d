import RegentHTTPCodec
import RegentPlatform
import Synchronization

/// The work of the client's thread: it takes calls from the mailbox, gives each to a transport and completes it exactly
/// once.
///
/// All state is used by one thread at a time; other threads use only the mailbox.
final class ClientLoop {
  let configuration: ClientConfiguration
  let poller: Poller
  let mailbox: Mailbox
  let serverTime: ServerTimeBox
  private var calls: [UInt64: Call] = [:]
  private lazy var resolver = Resolver(mailbox)
  private lazy var plain = PlainTransport(self)
  private var tls: TLSTransport?
  private lazy var proxies = ProxyRules(configuration.proxy, variable: ProcessEnvironment.value)
  private var isStopping = false
  private let network: NetworkWatch?
  /// The total time that the machine has been suspended, in nanoseconds, as last read.
  private var slept = Clocks.sleptNanoseconds()
  /// Until this time on the boot-time clock, https calls use new connections.
  ///
  /// A connection that libcurl has kept may be older than a suspend of the machine, or may come from an address that
  /// the machine no longer has.
  private var freshUntil: UInt64 = 0

  /// The mailbox's token in the poller.
  ///
  /// The tokens of connections count from 1, and libcurl's sockets have the top bit set.
  private static let mailboxToken: UInt64 = 0
  private static let networkToken: UInt64 = 1 << 62
  static let tlsTokenBit: UInt64 = 1 << 63

  static func start(
    _ mailbox: Mailbox, _ configuration: ClientConfiguration, _ serverTime: ServerTimeBox
  ) throws(SystemError) {
    // The poller is made here, so that a lack of file descriptors is an error of the first call.
    let handover = PollerHandover(try newPoller(mailbox))
    try DedicatedThread.start(named: "http client") {
      guard let poller = handover.take() else { return }
      ClientLoop(poller, mailbox, configuration, serverTime).run()
    }
  }

  /// Makes a loop without a thread of its own.
  ///
  /// The caller runs it with ``perform(_:)``.
  convenience init(
    _ mailbox: Mailbox, _ configuration: ClientConfiguration, _ serverTime: ServerTimeBox
  ) throws(SystemError) {
    self.init(try Self.newPoller(mailbox), mailbox, configuration, serverTime)
  }

  private static func newPoller(_ mailbox: Mailbox) throws(SystemError) -> sending Poller {
    let poller = try Poller(capacity: 64)
    try poller.add(mailbox.wakeUp.number, .readable, token: mailboxToken)
    return poller
  }

  private init(
    _ poller: consuming Poller, _ mailbox: Mailbox, _ configuration: ClientConfiguration,
    _ serverTime: ServerTimeBox
  ) {
    self.poller = poller
    self.mailbox = mailbox
    self.configuration = configuration
    self.serverTime = serverTime
    // A command makes one or two calls and ends, so its client does not watch the network.
    network = configuration.callThread == .own ? NetworkWatch() : nil
    for number in network?.numbers ?? [] { try? self.poller.add(number, .readable, token: Self.networkToken) }
  }

  private func run() {
    while !isStopping { turn() }
    end()
  }

  /// Makes a call on the calling thread, from start to completion.
  func perform(_ ticket: CallTicket) {
    obey(.start(ticket))
    while !calls.isEmpty, !isStopping { turn() }
    if isStopping { end() }
  }

  private func turn() {
    for index in 0..<poller.wait(milliseconds: patience()) {
      let event = poller.event(index)
      if event.token == ClientLoop.mailboxToken {
        for command in mailbox.take() { obey(command) }
      } else if event.token == ClientLoop.networkToken {
        if let change = network?.change(), !change.isEmpty { networkChanged(change) }
      } else if event.token & ClientLoop.tlsTokenBit != 0 {
        tls?.handle(event)
      } else {
        plain.handle(event)
      }
    }
    expire(Clocks.bootNanoseconds())
  }

  private func end() {
    for command in mailbox.close() {
      if case .start(let ticket) = command { obey(.start(ticket)) }
    }
    for call in Array(calls.values) { abandon(call, .cancelled) }
    plain.shutDown()
    tls?.shutDown()
  }

  private func obey(_ command: Command) {
    switch command {
    case .start(let ticket):
      let call = Call(ticket)
      calls[ticket.id] = call
      begin(call)
    case .cancel(let id):
      if let call = calls[id] { abandon(call, .cancelled) }
    case .lookedUp(let place, let result):
      for id in resolver.finish(place, result) {
        if let call = calls[id] { connect(call, result) }
      }
    case .stop:
      isStopping = true
    }
  }

  private func begin(_ call: Call) {
    call.phase = .connecting
    call.reachEnd = Clocks.bootNanoseconds() + configuration.reachLimit.wholeNanoseconds
    switch proxies.route(to: call.origin) {
    case .direct, .excepted: call.proxy = nil
    case .proxy(let address, _): call.proxy = address
    case .unusable(let variable):
      return fail(call, .invalidRequest("\(variable) does not name a proxy in the form http://HOST:PORT"))
    }
    switch call.origin.scheme {
    case .unix:
      do throws(SystemError) {
        connect(call, .success([try SocketAddress(unixPath: call.origin.host)]))
      } catch {
        fail(call, .system(error.description))
      }
    case .http:
      noticeSleep()
      if !plain.reuse(for: call) { lookUp(call) }
    case .https:
      noticeSleep()
      if Clocks.bootNanoseconds() < freshUntil { call.needsNewConnection = true }
      lookUp(call)
    }
  }

  private func lookUp(_ call: Call) {
    call.carrier = .resolver
    call.phase = .lookingUp
    if let known = resolver.lookUp(call.place, for: call.ticket.id) {
      connect(call, known)
    }
  }

  private func connect(_ call: Call, _ result: Result<[SocketAddress], ClientError.Kind>) {
    call.phase = .connecting
    switch result {
    case .failure(let kind): fail(call, kind)
    case .success(let addresses):
      if call.origin.scheme == .https {
        if addresses.count > 1, !resolver.knowsFirst(of: call.place) {
          plain.start(call, addresses)
        } else {
          startTLS(call, addresses)
        }
      } else if call.origin.scheme == .http || !plain.reuse(for: call) {
        plain.start(call, addresses)
      }
    }
  }

  private func startTLS(_ call: Call, _ addresses: [SocketAddress]) {
    do throws(ClientError.Kind) {
      let transport: TLSTransport
      if let tls { transport = tls } else { transport = try TLSTransport(self) }
      tls = transport
      try transport.start(call, addresses)
    } catch {
      fail(call, error)
    }
  }
}

extension ClientLoop {
  private func networkChanged(_ change: NetworkWatch.Change) {
    resolver.forget()
    if change.contains(.addresses) {
      distrustKept()
      plain.dropLost()
      tls?.dropLost()
    }
    configuration.onNetworkChange?()
  }

  /// After a suspend, closes the kept plain connections and no longer uses those of libcurl.
  ///
  /// Servers have closed them meanwhile, and libcurl measures their age with the monotonic clock, which stood still.
  private func noticeSleep() {
    let now = Clocks.sleptNanoseconds()
    guard now > slept + 1_000_000_000 else { return }
    slept = now
    distrustKept()
    plain.dropKept()
  }

  private func distrustKept() { freshUntil = Clocks.bootNanoseconds() + configuration.keepAlive.wholeNanoseconds }

  /// Handles a call whose connection was made from an address that this machine no longer has.
  ///
  /// The client repeats an idempotent request that the server has not received. A request that the server may have
  /// received is the caller's to repeat: it must be signed again, because a signature is valid for one use.
  func lostConnection(of call: Call, isUnseen: Bool) {
    if isUnseen, call.request.isIdempotent { repeatOnNewConnection(call) } else { fail(call, .connectionLost) }
  }

  /// Repeats a call on a new connection, because its kept connection was closed.
  func repeatOnNewConnection(_ call: Call) {
    call.needsNewConnection = true
    forgetAddresses(of: call)
    begin(call)
  }

  /// Gives libcurl the address of the https server that accepted a connection first.
  ///
  /// On its own, libcurl would wait too long for addresses that do not answer.
  func reached(_ call: Call, at address: SocketAddress) {
    keep(address, for: call)
    call.carrier = .unassigned
    startTLS(call, [address])
  }

  /// Makes the next connection to the call's host use this address first.
  func keep(_ address: SocketAddress, for call: Call) { resolver.keep(address, of: call.place) }

  /// Takes the response from a transport: follows a redirect or completes the call.
  func answer(_ call: Call, _ response: ClientResponse) {
    call.carrier = .unassigned
    do throws(ClientError.Kind) {
      if call.proxy != nil, response.status.rawValue == 407 { throw .proxyRefused(status: 407) }
      if try call.follows(response) { return begin(call) }
      complete(call, .success(response))
    } catch {
      fail(call, error)
    }
  }

  /// Completes a call with an error from a transport.
  func fail(_ call: Call, _ kind: ClientError.Kind) {
    switch kind {
    case .unreachable, .timedOut(.connecting), .tls: forgetAddresses(of: call)
    default: break
    }
    complete(call, .failure(ClientError(kind, call.origin, proxy: call.proxy)))
  }

  /// Makes the next call look up the name again, because the server may have a new address.
  private func forgetAddresses(of call: Call) {
    resolver.forget(call.place)
  }

  private func complete(_ call: Call, _ result: Result<ClientResponse, ClientError>) {
    guard calls.removeValue(forKey: call.ticket.id) != nil else { return }
    call.ticket.completion(result)
  }

  /// Ends the call's work in its transport (plain or TLS), and fails the call.
  private func abandon(_ call: Call, _ kind: ClientError.Kind) {
    switch call.carrier {
    case .unassigned, .resolver: break
    case .plain: plain.abandon(call)
    case .tls: tls?.abandon(call)
    }
    call.carrier = .unassigned
    fail(call, kind)
  }

  private func expire(_ now: UInt64) {
    for call in Array(calls.values) where call.ticket.deadline <= now {
      if call.carrier == .tls { tls?.notePhase(of: call) }
      abandon(call, call.doubt.map { .tls($0) } ?? .timedOut(call.phase))
    }
    for call in Array(calls.values) where call.phase == .lookingUp && call.reachEnd <= now {
      abandon(call, .timedOut(.lookingUp))
    }
    plain.expire(now)
    tls?.expire(now)
  }

  /// The time until the next deadline or timer in milliseconds, for the poller; -1 for no limit.
  ///
  /// There is no regular tick: without a deadline the thread sleeps until an event.
  private func patience() -> CInt {
    var next = min(plain.nextTimer, tls?.nextTimer ?? .max)
    for call in calls.values {
      next = min(next, call.phase == .lookingUp ? min(call.ticket.deadline, call.reachEnd) : call.ticket.deadline)
    }
    guard next != .max else { return -1 }
    let now = Clocks.bootNanoseconds()
    guard next > now else { return 0 }
    // Rounded up: a thread that wakes up a moment too early would have to wait a second time.
    return CInt(min((next - now + 999_999) / 1_000_000, 86_400_000))
  }
}

extension Poller.Events {
  /// Events after which a read may succeed; a server may end its response by closing the connection.
  static let input: Self = [.readable, .peerClosed]
}

extension Poller.Event {
  // A failed socket counts as readable and writable: the next read or write returns its error.
  var isReadable: Bool { events.hasAny(of: [.readable, .peerClosed, .failed]) }
  var isWritable: Bool { events.hasAny(of: [.writable, .failed]) }
}

/// Passes the poller to the new thread, because a closure cannot consume a captured noncopyable value.
private final class PollerHandover: Sendable {
  private let poller: Mutex<Poller?>

  init(_ poller: consuming sending Poller) { self.poller = Mutex(poller) }

  func take() -> sending Poller? { poller.withLock { $0.take() } }
}
