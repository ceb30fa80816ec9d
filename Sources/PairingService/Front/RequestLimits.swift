package import RegentHTTPCodec
package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// Limits how many requests and wrong codes a device or a network address may send.
///
/// Wrong codes are counted by `Guesses`, wrong passwords by `SignInCheck`, and pending codes by the store.
package final class RequestLimits: Sendable {
  /// The client or group whose requests one rate limit counts.
  package enum Subject: Hashable, Sendable {
    /// The rate limit counts the requests of a device.
    case device(DeviceHash)
    /// The rate limit counts the requests for one code from one address, by clients that send no device id.
    ///
    /// They are counted separately, so that an attacker who saw a code on a screen cannot use up the limit of its box.
    case code(CodeHash, SourceKey?)
    /// The rate limit counts new codes with which a device replaces its own.
    case replacements(DeviceHash)
    /// The rate limit counts app sign-ins by one box.
    case box(BoxID)
    /// The rate limit counts a viewer's decisions about the apps of a box.
    case decisions(DeviceHash)
    /// The rate limit counts a viewer's actions on the phone's pages that write an audit line.
    case viewer(Viewer)
    /// The rate limit counts the actions of guests at one address that write an audit line.
    ///
    /// All guests of a provider are the same `Viewer`, so they are counted by address.
    case guests(SourceKey)
    /// The rate limit counts audit lines for the sign-ins and sign-outs of a viewer's browsers.
    case sessions(Viewer)
    /// The rate limit counts changes that an OAuth client makes to its own registration.
    case client(ClientID)
    /// The rate limit counts actions from one address that each write a new row, such as the registration of a client.
    case newcomers(Newcomer, SourceKey)
    /// The rate limit counts new database rows (permits or sign-ins) of a group of viewers, such as all viewers with
    /// accounts at one requestor.
    case rows(NewRow, RowSharer)
  }

  /// Actions that write a row and that a client can repeat with invented names.
  package enum Newcomer: Hashable, Sendable {
    /// An app installation registers.
    ///
    /// Its row is kept for ever, and anyone can read the software statement from a copy of the app.
    case app
    /// An OAuth client registers itself without credentials.
    ///
    /// `ClientRoom` keeps each such client for an hour and has a limited number of places; one address must not fill
    /// more than a few of them.
    case program
    /// A device that has no pending code asks for one.
    case code
    /// A device asks for a new code that replaces its own.
    case replacement
    /// A device is signed in without an account: with a temporary pass, or because the provider is out of order
    /// (degradation).
    case guest
    /// A browser starts a guest's session.
    case visitor
  }

  fileprivate struct Meter: Hashable {
    /// The requestor to which the rate limit belongs; nil for limits that belong to none.
    let requestor: RequestorID?
    let subject: Subject
    var waits = false
  }

  struct State {
    fileprivate var devices: [Meter: RateMeter] = [:]
    /// The counters that are used when `devices` is full.
    ///
    /// Each further subject shares one of them with all others that have the same hash.
    fileprivate var shared = [RateMeter](repeating: RateMeter(), count: 4096)
    var sources: [SourceKey: RateMeter] = [:]
    var guesses: Guesses
    /// The number of nodes that divide the rate limits among them.
    var nodes = 1
    var nextSweep = Uptime(milliseconds: .min)
  }

  /// From this number of counters on, counters that have recovered completely are removed, because they hold no
  /// information.
  fileprivate static let manyMeters = 100_000
  /// The maximum number of counters, about 40 MiB.
  ///
  /// A counter recovers completely within minutes and is then removed, so an attacker needs a thousand new names a
  /// second to reach this number.
  fileprivate static let mostMeters = 400_000
  /// The limit for replaced codes is this many times the limit for new codes.
  ///
  /// A code that replaces another adds a row, but the number of codes that can be approved stays the same.
  private static let replacementFactor = 10
  /// The factor by which more guests than other clients may start at once from one address.
  ///
  /// The address may be that of a hotel or hall whose guests all start at once.
  private static let guestFactor = 5
  /// The factor by which registrations of OAuth clients from one address are limited more than other new rows, because
  /// a program registers once in a place.
  ///
  /// With this factor, an attacker needs 20 addresses to fill the 10,000 places for an hour.
  private static let programFactor = 10
  /// The limit for long polls is this many times the usual limit.
  ///
  /// A device waits for at most four things, and repeats each long poll after a change. It stays far below this limit.
  private static let waitFactor = 4
  /// The number of requests that an app sends at once when it opens.
  ///
  /// With several nodes, each allows at least this burst, whatever its part of the limit is.
  private static let opening = 20
  /// The limit of an IPv6 /48 is this many times that of a /64: a subscriber may have 65,536 of these.
  static let subscriberFactor = 4
  let limits: ServiceLimits
  let clock: ServiceClock
  let metrics: ServiceMetrics
  let log: ServiceLog
  let state: Locked<State>
  /// Reports wrong guesses to the other nodes; nil when this process is the only node.
  let shared: BatchedSender<WrongGuess>?

  init(
    _ limits: ServiceLimits, clock: ServiceClock, metrics: ServiceMetrics, log: ServiceLog,
    sharedBy shared: BatchedSender<WrongGuess>? = nil
  ) {
    self.log = log
    self.shared = shared
    self.limits = limits
    self.clock = clock
    self.metrics = metrics
    state = Locked(State(guesses: Guesses(limits)))
  }

  package func take(_ device: DeviceHash, at requestor: RequestorID) throws(CallError) {
    try take(.device(device), at: requestor)
  }

  /// Counts one request of a device, or one for a code, against its rate limit.
  package func take(_ subject: Subject, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: subject), limits.device, least: Self.opening)
  }

  /// Counts one long poll against the rate limit for long polls.
  ///
  /// Long polls do not use up the limit for ordinary polls, and a client still cannot open and replace them in an
  /// endless loop.
  package func takeWait(_ subject: Subject, at requestor: RequestorID) throws(CallError) {
    try take(
      Meter(requestor: requestor, subject: subject, waits: true),
      limits.device.times(Self.waitFactor), least: Self.opening)
  }

  /// Counts one event against this node's part of a rate limit.
  ///
  /// `least` is the burst that each node allows, however many nodes divide the limit.
  private func take(_ meter: Meter, _ whole: RateLimit, least: Int = 1) throws(CallError) {
    let now = clock.uptime
    try allow(
      state.withLock { state in
        state.makeRoom(at: now)
        let limit = state.share(of: whole, least: least)
        guard state.devices.count < Self.mostMeters || state.devices[meter] != nil else {
          return state.shared[state.place(of: meter)].take(of: limit, at: now)
        }
        return state.devices[meter, default: RateMeter()].take(of: limit, at: now)
      })
  }

  /// Counts one event against each of these rate limits, or against none if any is used up.
  ///
  /// A viewer who is refused because of other clients at the same address loses nothing.
  func take(_ all: [(subject: Subject, requestor: RequestorID?, limit: RateLimit)]) throws(CallError) {
    let now = clock.uptime
    let wait = state.withLock { state -> Duration? in
      state.makeRoom(at: now)
      var taken: [(meter: Meter, rate: RateMeter)] = []
      var longest: Duration?
      for one in all {
        let meter = Meter(requestor: one.requestor, subject: one.subject)
        var rate = state.rate(of: meter)
        if case .over(let wait) = rate.take(of: state.share(of: one.limit, least: 1), at: now) {
          longest = max(longest ?? .zero, wait)
        }
        taken.append((meter, rate))
      }
      guard longest == nil else { return longest }
      for one in taken { state.set(one.rate, of: one.meter) }
      return nil
    }
    guard let wait else { return }
    metrics.count(.requestsThrottled)
    throw .tooMany(retryAfter: wait)
  }

  /// Counts one new code that replaces a device's own against its rate limit.
  ///
  /// Each one writes a row to the disk, whatever its lifetime.
  package func takeReplacement(of device: DeviceHash, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .replacements(device)), limits.replacements)
  }

  /// Counts one app sign-in by a box against its rate limit.
  ///
  /// The box's owner can sign any number of assertions with invented apps, devices and addresses, and each writes a
  /// row.
  package func takeExchange(by box: BoxID, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .box(box)), limits.newcomers)
  }

  /// Counts one viewer's decision about a box's apps, or one enrolled key of the box, against its rate limit.
  ///
  /// Each one writes an audit line, and a full log deletes its oldest lines.
  package func takeDecision(of device: DeviceHash, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .decisions(device)), limits.newcomers)
  }

  /// Counts one action of a viewer that writes an audit line against the viewer's rate limit: naming a screen, a
  /// decision, a new password.
  ///
  /// Without this limit, a viewer could fill the log by sending a form again and again.
  func takeAct(of viewer: Viewer, from address: IPAddress?) throws(CallError) {
    let subject = viewer.account == nil ? Subject.guests(SourceKey(address)) : .viewer(viewer)
    try take(Meter(requestor: nil, subject: subject), limits.newcomers)
  }

  /// Whether an audit line may be written for a browser that signs in or out.
  ///
  /// Above the limit the line is left out, because signing in and out must always work. Other actions have a limit of
  /// their own.
  func hasSessionLine(for viewer: Viewer) -> Bool {
    // The lines of guests are limited by ``AuditBudgets``, because all guests of a provider are the same viewer.
    guard viewer.account != nil else { return true }
    do throws(CallError) {
      try take(Meter(requestor: nil, subject: .sessions(viewer)), limits.newcomers)
      return true
    } catch { return false }
  }

  /// Counts one change that a client makes to its own registration against its rate limit.
  ///
  /// Each one writes a row and an audit line.
  func takeChange(of client: ClientID, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .client(client)), limits.newcomers)
  }

  /// Counts one request against the rate limit of its network address, if an operator has set one.
  package func take(_ address: IPAddress?) throws(CallError) {
    guard let limit = limits.source else { return }
    let source = SourceKey(address)
    let now = clock.uptime
    try allow(
      state.withLock { state in
        state.makeRoom(at: now)
        let limit = state.share(of: limit, least: 1)
        guard state.sources.count < Self.mostMeters || state.sources[source] != nil else {
          let place = Int(UInt(bitPattern: source.hashValue) % UInt(state.shared.count))
          return state.shared[place].take(of: limit, at: now)
        }
        return state.sources[source, default: RateMeter()].take(of: limit, at: now)
      })
  }

  /// Divides each rate limit by the number of nodes, so that clients that a load balancer sends to all nodes in turn
  /// get the whole limit.
  ///
  /// A client that always reaches the same node gets only that node's part.
  func divide(among nodes: Int) { state.withLock { $0.nodes = max(nodes, 1) } }

  /// The number of nodes that divide the rate limits, as far as this node knows.
  var nodes: Int { state.withLock { $0.nodes } }

  /// Counts one action that writes a new row, such as the registration of a client, against the rate limit of its
  /// network address.
  package func take(
    _ newcomer: Newcomer, from address: IPAddress?, at requestor: RequestorID
  ) throws(CallError) {
    let limit =
      switch newcomer {
      case .code: limits.newCodes
      case .replacement: limits.newCodes?.times(Self.replacementFactor)
      case .app: limits.newcomers
      case .guest, .visitor: limits.newcomers.with(burst: Self.guestFactor)
      case .program: limits.newcomers.slowed(by: Self.programFactor)
      }
    guard let limit else { return }
    try take(bySource(address, limit, at: requestor) { .newcomers(newcomer, $0) })
  }

  /// The rate limits of a client's address: its own, and that of the subscriber's whole IPv6 network.
  func bySource(
    _ address: IPAddress?, _ limit: RateLimit, at requestor: RequestorID?, _ subject: (SourceKey) -> Subject
  ) -> [(subject: Subject, requestor: RequestorID?, limit: RateLimit)] {
    let source = SourceKey(address)
    let own = (subject: subject(source), requestor: requestor, limit: limit)
    guard source.subscriber != source else { return [own] }
    return [own, (subject(source.subscriber), requestor, limit.times(Self.subscriberFactor))]
  }

  func allow(_ verdict: RateVerdict) throws(CallError) {
    guard case .over(let wait) = verdict else { return }
    metrics.count(.requestsThrottled)
    throw .tooMany(retryAfter: wait)
  }
}

extension RequestLimits.State {
  /// This node's part of a rate limit, with a burst of at least `least`.
  fileprivate func share(of limit: RateLimit, least: Int) -> RateLimit {
    nodes == 1 ? limit : limit.divided(among: nodes, least: least)
  }

  /// The state of a subject's counter; if the subject has no counter of its own, the state of the shared counter.
  fileprivate func rate(of meter: RequestLimits.Meter) -> RateMeter {
    if let rate = devices[meter] { return rate }
    return devices.count < RequestLimits.mostMeters ? RateMeter() : shared[place(of: meter)]
  }

  fileprivate mutating func set(_ rate: RateMeter, of meter: RequestLimits.Meter) {
    if devices[meter] == nil, devices.count >= RequestLimits.mostMeters {
      shared[place(of: meter)] = rate
    } else {
      devices[meter] = rate
    }
  }

  fileprivate func place(of meter: RequestLimits.Meter) -> Int {
    Int(UInt(bitPattern: meter.hashValue) % UInt(shared.count))
  }

  fileprivate mutating func makeRoom(at now: Uptime) {
    let many = RequestLimits.manyMeters
    guard devices.count >= many || sources.count >= many, now >= nextSweep else { return }
    // The next clean-up runs a second later at the earliest. A flood of invented devices must not cause one for each
    // request.
    nextSweep = now + .seconds(1)
    devices = devices.filter { !$0.value.isFull(at: now) }
    // The table keeps its capacity. Otherwise it would grow again step by step in the same flood, and move all entries
    // each time.
    devices.reserveCapacity(many)
    sources = sources.filter { !$0.value.isFull(at: now) }
  }
}

extension SourceKey {
  /// The key of a client's network address.
  ///
  /// All clients whose address is not known have one key. The limits therefore also hold when a proxy on a Unix socket
  /// does not send its clients' addresses.
  package init(_ address: IPAddress?) {
    let bytes: [UInt8] =
      switch address {
      case nil: [0, 0, 0, 0]
      case let address? where address.isIPv4:
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: address.low >> (8 * $0)) }
      case let address?:
        [address.high, address.low].flatMap { half in
          (0..<8).reversed().map { UInt8(truncatingIfNeeded: half >> (8 * $0)) }
        }
      }
    self = SourceKey(address: bytes) ?? { preconditionFailure("an address has 4 or 16 bytes") }()
  }
}
