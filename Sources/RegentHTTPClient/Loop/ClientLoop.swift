import RegentPlatform
import Synchronization

/// What the client's thread does: takes calls in, gives them to a transport, completes each exactly once.
///
/// All its parts live on one thread at a time and share nothing with others but the mailbox.
final class ClientLoop {
  let configuration: ClientConfiguration
  let poller: Poller
  let mailbox: Mailbox
  let serverTime: ServerTimeBox
  private var calls: [UInt64: Call] = [:]
  private lazy var resolver = Resolver(mailbox)
  private lazy var plain = PlainTransport(self)
  private var tls: TLSTransport?
  private var isStopping = false
  private let network: NetworkWatch?
  /// How long the machine has slept since its start, in nanoseconds.
  private var slept = Clocks.sleptNanoseconds()
  /// Until then nothing is sent on a connection that libcurl has kept; it may be one from before the machine slept, or
  /// from an address that is gone.
  private var freshUntil: UInt64 = 0

  /// The token of the mailbox; connections count from 1, and libcurl's sockets have the top bit.
  private static let mailboxToken: UInt64 = 0
  private static let networkToken: UInt64 = 1 << 62
  static let tlsTokenBit: UInt64 = 1 << 63

  static func start(
    _ mailbox: Mailbox, _ configuration: ClientConfiguration, _ serverTime: ServerTimeBox
  ) throws(SystemError) {
    // Made here so that a machine without descriptors is an error of the first call, not of a thread.
    let handover = PollerHandover(try newPoller(mailbox))
    try DedicatedThread.start(named: "http client") {
      guard let poller = handover.take() else { return }
      ClientLoop(poller, mailbox, configuration, serverTime).run()
    }
  }

  /// A loop without a thread, for ``perform(_:)``.
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
    // A command makes a call or two and ends: it needs no watch.
    network = configuration.callThread == .own ? NetworkWatch() : nil
    for number in network?.numbers ?? [] { try? self.poller.add(number, .readable, token: Self.networkToken) }
  }

  private func run() {
    while !isStopping { turn() }
    end()
  }

  /// Makes a call on the calling thread, from its start to its completion.
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
    if let known = resolver.lookUp(place(of: call), for: call.ticket.id) {
      connect(call, known)
    }
  }

  private func connect(_ call: Call, _ result: Result<[SocketAddress], ClientError.Kind>) {
    call.phase = .connecting
    switch result {
    case .failure(let kind): fail(call, kind)
    case .success(let addresses):
      if call.origin.scheme == .https {
        if addresses.count > 1, !resolver.knowsFirst(of: place(of: call)) {
          plain.start(call, addresses)
        } else {
          startTLS(call, addresses)
        }
      } else if call.origin.scheme == .http || !plain.reuse(for: call) {
        plain.start(call, addresses)
      }
    }
  }

  private func place(of call: Call) -> HostAndPort { HostAndPort(host: call.origin.host, port: call.origin.port) }

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

  /// A machine that slept has connections that the other end closed meanwhile; its clock for intervals stood still.
  private func noticeSleep() {
    let now = Clocks.sleptNanoseconds()
    guard now > slept + 1_000_000_000 else { return }
    slept = now
    distrustKept()
    plain.dropKept()
  }

  private func distrustKept() { freshUntil = Clocks.bootNanoseconds() + configuration.keepAlive.wholeNanoseconds }

  /// Goes on with a call whose connection was made from an address that this machine no longer has.
  ///
  /// A request that the server has not seen may go to it again. One that it has seen is the caller's to repeat: its
  /// signature holds for one use.
  func lostConnection(of call: Call, isUnseen: Bool) {
    if isUnseen, call.request.isIdempotent { repeatOnNewConnection(call) } else { fail(call, .connectionLost) }
  }

  /// Starts a call again whose kept connection had died.
  func repeatOnNewConnection(_ call: Call) {
    call.needsNewConnection = true
    forgetAddresses(of: call)
    begin(call)
  }

  /// An address of an https server has taken a connection: libcurl is given that one, as it would wait too long for
  /// those that do not answer.
  func reached(_ call: Call, at address: SocketAddress) {
    keep(address, for: call)
    call.carrier = .nobody
    startTLS(call, [address])
  }

  /// The next connection goes where this one went.
  func keep(_ address: SocketAddress, for call: Call) { resolver.keep(address, of: place(of: call)) }

  /// A transport has the answer.
  func answer(_ call: Call, _ response: ClientResponse) {
    call.carrier = .nobody
    do throws(ClientError.Kind) {
      if try call.follows(response) { return begin(call) }
      complete(call, .success(response))
    } catch {
      fail(call, error)
    }
  }

  /// A transport has failed.
  func fail(_ call: Call, _ kind: ClientError.Kind) {
    switch kind {
    case .unreachable, .timedOut(.connecting), .tls: forgetAddresses(of: call)
    default: break
    }
    complete(call, .failure(ClientError(kind, call.origin)))
  }

  /// The server may have moved: the next call looks its name up again.
  private func forgetAddresses(of call: Call) {
    resolver.forget(place(of: call))
  }

  private func complete(_ call: Call, _ result: Result<ClientResponse, ClientError>) {
    guard calls.removeValue(forKey: call.ticket.id) != nil else { return }
    call.ticket.completion(result)
  }

  /// Takes a call away from whoever works on it and fails it.
  private func abandon(_ call: Call, _ kind: ClientError.Kind) {
    switch call.carrier {
    case .nobody, .resolver: break
    case .plain: plain.abandon(call)
    case .tls: tls?.abandon(call)
    }
    call.carrier = .nobody
    fail(call, kind)
  }

  private func expire(_ now: UInt64) {
    for call in Array(calls.values) where call.ticket.deadline <= now {
      if call.carrier == .tls { tls?.notePhase(of: call) }
      abandon(call, call.doubt.map { .tls($0) } ?? .timedOut(call.phase))
    }
    plain.expire(now)
    tls?.expire(now)
  }

  /// How long nothing is due.
  ///
  /// There is no tick: without a deadline the thread sleeps until something happens.
  private func patience() -> CInt {
    var next = min(plain.nextTimer, tls?.nextTimer ?? .max)
    for call in calls.values { next = min(next, call.ticket.deadline) }
    guard next != .max else { return -1 }
    let now = Clocks.bootNanoseconds()
    guard next > now else { return 0 }
    // Rounded up: waking a moment early would mean waking twice.
    return CInt(min((next - now + 999_999) / 1_000_000, 86_400_000))
  }
}

extension Poller.Events {
  /// A server may end its answer by closing.
  static let input: Self = [.readable, .peerClosed]
}

extension Poller.Event {
  // A broken socket says what is wrong with it to whoever reads or writes.
  var isReadable: Bool { events.hasAny(of: [.readable, .peerClosed, .failed]) }
  var isWritable: Bool { events.hasAny(of: [.writable, .failed]) }
}

/// Carries the poller into the thread: a closure cannot own what cannot be copied.
private final class PollerHandover: Sendable {
  private let poller: Mutex<Poller?>

  init(_ poller: consuming sending Poller) { self.poller = Mutex(poller) }

  func take() -> sending Poller? { poller.withLock { $0.take() } }
}
