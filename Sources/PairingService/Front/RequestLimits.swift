package import HTTPCodec
package import Pairing
package import PairingStore
internal import Platform

/// The one place that decides limits: of devices, of sources, and of wrong codes.
package final class RequestLimits: Sendable {
  /// An account as wrong codes are counted for it.
  package typealias Guesser = Pairing.Viewer

  /// Whose requests are counted.
  package enum Subject: Hashable, Sendable {
    /// A device's.
    case device(DeviceHash)
    /// Those for one code, by callers that name no device.
    case code(CodeHash)
    /// Registrations of apps from one network address.
    case registrations(SourceKey)
    /// Guests that come in from one network address.
    case guests(SourceKey)
  }

  fileprivate struct Meter: Hashable {
    let requestor: RequestorID
    let subject: Subject
    var waits = false
  }

  fileprivate struct State {
    var devices: [Meter: RateMeter] = [:]
    var sources: [SourceKey: RateMeter] = [:]
    var guesses: GuessLedger<Guesser>
    /// Boxes that poll a code which nobody knows any more: counted apart, so that a forgotten box at home does not keep
    /// the viewer's phone from typing the right code.
    var polls: GuessLedger<Guesser>
    /// Apps that register or ask for a token with something that is not valid.
    var clients: GuessLedger<Guesser>
    var nextSweep = Uptime(milliseconds: .min)
  }

  /// Meters that are full again tell nothing; beyond so many they are looked through.
  fileprivate static let manyMeters = 100_000
  /// 150 in ten minutes, 600 a minute from everybody: a box that polls every five seconds stays within it.
  private static let pollFactors = (each: 30, all: 10)
  /// Nobody guesses 256 random bits; a house full of boxes with an old registration must find its way back.
  private static let clientFactor = 12
  /// 100 boxes behind one address at once, and one a second after that.
  private static let newcomerShare = 20
  /// A device waits for four things at most, and again after each change: it never comes near this.
  private static let waitFactor = 4
  private let limits: ServiceLimits
  private let clock: ServiceClock
  private let metrics: ServiceMetrics
  private let log: ServiceLog
  private let state: Locked<State>

  init(_ limits: ServiceLimits, clock: ServiceClock, metrics: ServiceMetrics, log: ServiceLog) {
    self.log = log
    self.limits = limits
    self.clock = clock
    self.metrics = metrics
    state = Locked(
      State(
        guesses: GuessLedger(each: limits.wrongCodes, all: limits.allWrongCodes),
        polls: GuessLedger(
          each: limits.wrongCodes.times(Self.pollFactors.each),
          all: limits.allWrongCodes.times(Self.pollFactors.all)),
        clients: GuessLedger(
          each: limits.wrongCodes.times(Self.clientFactor),
          all: limits.allWrongCodes.times(Self.clientFactor))))
  }

  /// How many codes may be pending.
  package var liveCodes: Int { limits.liveCodes }

  /// Takes one request of a device.
  package func take(_ device: DeviceHash, at requestor: RequestorID) throws(CallError) {
    try take(.device(device), at: requestor)
  }

  /// Takes one request of a device or for a code.
  package func take(_ subject: Subject, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: subject), limits.device)
  }

  /// Takes one request that is to be held: counted apart, so that waiting costs a device nothing of its polls, and still
  /// nobody can open and displace waits without end.
  package func takeWait(_ subject: Subject, at requestor: RequestorID) throws(CallError) {
    let limit = RateLimit(
      perSecond: limits.device.perSecond * Self.waitFactor,
      burst: limits.device.burst * Self.waitFactor)
    try take(Meter(requestor: requestor, subject: subject, waits: true), limit)
  }

  private func take(_ meter: Meter, _ limit: RateLimit) throws(CallError) {
    let now = clock.uptime
    try allow(
      state.withLock { state in
        state.makeRoom(at: now)
        return state.devices[meter, default: RateMeter()].take(of: limit, at: now)
      })
  }

  /// Takes one request of a network address, when an operator limits those.
  package func take(_ address: IPAddress?) throws(CallError) {
    guard let limit = limits.source, let source = SourceKey(address) else { return }
    let now = clock.uptime
    try allow(
      state.withLock { state in
        state.makeRoom(at: now)
        return state.sources[source, default: RateMeter()].take(of: limit, at: now)
      })
  }

  /// Whether a code from there may be looked at: asked before the code is looked up.
  package func mayTryCode(from address: IPAddress?, as account: Guesser? = nil) throws(CallError) {
    guard let source = SourceKey(address) else { return }
    let now = clock.uptime
    try allow(
      state.withLock { $0.guesses.verdict(source: source, account: account, at: now) })
  }

  /// Counts a wrong code.
  package func wrongCode(from address: IPAddress?, as account: Guesser? = nil) {
    metrics.count(.wrongCodes)
    guard let address, let source = SourceKey(address) else { return }
    // What deploy/fail2ban looks for; the ledger keeps these lines few.
    log.warning("wrong-code", ("address", address.description))
    let now = clock.uptime
    state.withLock { $0.guesses.wrong(source: source, account: account, at: now) }
  }

  /// Whether a box there may poll by code.
  package func mayPollCode(from address: IPAddress?) throws(CallError) {
    guard let source = SourceKey(address) else { return }
    let now = clock.uptime
    try allow(state.withLock { $0.polls.verdict(source: source, account: nil, at: now) })
  }

  /// Counts a poll of a code that nobody knows.
  package func wrongPoll(from address: IPAddress?) {
    guard let source = SourceKey(address) else { return }
    let now = clock.uptime
    state.withLock { $0.polls.wrong(source: source, account: nil, at: now) }
  }

  /// Takes one registration: each leaves a row for ever, and whoever has an app has its statement.
  package func takeRegistration(from address: IPAddress?, at requestor: RequestorID)
    throws(CallError)
  {
    guard let source = SourceKey(address) else { return }
    try take(Meter(requestor: requestor, subject: .registrations(source)), newcomers)
  }

  /// Takes one guest that comes in: device ids can be made up, and each pass that is begun leaves a row for a long time.
  package func takeGuest(from address: IPAddress?, at requestor: RequestorID) throws(CallError) {
    guard let source = SourceKey(address) else { return }
    try take(Meter(requestor: requestor, subject: .guests(source)), newcomers)
  }

  private var newcomers: RateLimit {
    RateLimit(perSecond: limits.device.perSecond / Self.newcomerShare, burst: limits.device.burst)
  }

  /// Whether an app there may register or ask for a token.
  package func mayTryClient(from address: IPAddress?) throws(CallError) {
    guard let source = SourceKey(address) else { return }
    let now = clock.uptime
    try allow(state.withLock { $0.clients.verdict(source: source, account: nil, at: now) })
  }

  /// Counts a registration or a request for a token with something that is not valid.
  package func wrongClient(from address: IPAddress?) {
    guard let source = SourceKey(address) else { return }
    let now = clock.uptime
    state.withLock { $0.clients.wrong(source: source, account: nil, at: now) }
  }

  private func allow(_ verdict: RateVerdict) throws(CallError) {
    guard case .over(let wait) = verdict else { return }
    metrics.count(.requestsThrottled)
    throw .tooMany(retryAfter: wait)
  }
}

extension RequestLimits.State {
  fileprivate mutating func makeRoom(at now: Uptime) {
    let many = RequestLimits.manyMeters
    guard devices.count >= many || sources.count >= many, now >= nextSweep else { return }
    // A flood of made-up devices must not cost a sweep for each of its requests.
    nextSweep = now + .seconds(1)
    devices = devices.filter { !$0.value.isFull(at: now) }
    sources = sources.filter { !$0.value.isFull(at: now) }
  }
}

extension FailureLimit {
  fileprivate func times(_ factor: Int) -> FailureLimit {
    FailureLimit(count: count.multipliedReportingOverflow(by: factor).partialValue, span: span)
  }
}

extension SourceKey {
  /// The key of a request's address; none on a Unix socket.
  package init?(_ address: IPAddress?) {
    guard let address else { return nil }
    if address.isIPv4 {
      self.init(
        address: (0..<4).reversed().map { UInt8(truncatingIfNeeded: address.low >> (8 * $0)) })
    } else {
      self.init(
        address: [address.high, address.low].flatMap { half in
          (0..<8).reversed().map { UInt8(truncatingIfNeeded: half >> (8 * $0)) }
        })
    }
  }
}
