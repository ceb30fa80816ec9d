package import RegentHTTPCodec
package import RegentPairing
package import PairingStore
internal import RegentPlatform

/// How many requests and wrong codes (`Guesses`) a device or a source may send.
///
/// Wrong passwords are counted in `SignInCheck`, live codes in the store.
package final class RequestLimits: Sendable {
  /// Whose requests are counted.
  package enum Subject: Hashable, Sendable {
    /// A device's.
    case device(DeviceHash)
    /// Those for one code from one address, by callers that name no device: whoever glimpsed a code on a screen spends
    /// nothing of what its box may ask.
    case code(CodeHash, SourceKey?)
    /// A device's codes that take the place of its own.
    case replacements(DeviceHash)
    /// The sign-ins of apps by one box.
    case box(BoxID)
    /// A viewer's decisions about the apps of a box.
    case decisions(DeviceHash)
    /// What a viewer does on the phone's pages that leaves a line of the audit log.
    case viewer(Viewer)
    /// The same of the guests of one network address: all guests of a provider are one viewer.
    case guests(SourceKey)
    /// The lines that say when a viewer's browsers signed in and out.
    case sessions(Viewer)
    /// A client's changes of its own registration.
    case client(ClientID)
    /// What is new at one network address.
    case newcomers(Newcomer, SourceKey)
    /// New rows of whoever shares the limit.
    case rows(NewRow, RowSharer)
  }

  /// What leaves a row behind, and can be asked for with names that are made up.
  package enum Newcomer: Hashable, Sendable {
    /// An app that registers: its row stays for ever, and whoever has the app has its statement.
    case app
    /// A program that registers itself and shows nothing: of the places that there are for those, one source must not
    /// fill more than a few in the hour for which each is kept (`ClientRoom`).
    case program
    /// A device that asks for a code and has none.
    case code
    /// A device that asks for another code in the place of its own.
    case replacement
    /// A device that comes in without an account: with a temporary pass, or where everybody is let in.
    case guest
    /// A browser that becomes a guest's.
    case visitor
  }

  fileprivate struct Meter: Hashable {
    /// None for what belongs to no app.
    let requestor: RequestorID?
    let subject: Subject
    var waits = false
  }

  struct State {
    fileprivate var devices: [Meter: RateMeter] = [:]
    /// For whom there is no room among the devices: each shares one with those that the hash puts there.
    fileprivate var shared = [RateMeter](repeating: RateMeter(), count: 4096)
    var sources: [SourceKey: RateMeter] = [:]
    var guesses: Guesses
    /// How many nodes have the limits together.
    var nodes = 1
    var nextSweep = Uptime(milliseconds: .min)
  }

  /// Meters that are full again tell nothing; beyond so many they are looked through.
  fileprivate static let manyMeters = 100_000
  /// So many at most, about 40 MiB: a meter is full again within minutes, so this takes a thousand new names a second.
  fileprivate static let mostMeters = 400_000
  /// A code in the place of another adds a row, but none that can be approved.
  private static let replacementFactor = 10
  /// One address may be that of a hotel or a hall whose guests all begin at once.
  private static let guestFactor = 5
  /// Programs are new in one place once; 10,000 places for an hour are then those of 20 sources.
  private static let programFactor = 10
  /// A device waits for four things at most, and again after each change: it never comes near this.
  private static let waitFactor = 4
  /// What an app asks at once when it opens; of many nodes each gives that much, whatever its part is.
  private static let opening = 20
  let limits: ServiceLimits
  let clock: ServiceClock
  let metrics: ServiceMetrics
  let log: ServiceLog
  let state: Locked<State>
  /// Where other nodes are told of wrong guesses; nil where there is none.
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

  /// Takes one request of a device or for a code.
  package func take(_ subject: Subject, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: subject), limits.device, least: Self.opening)
  }

  /// Takes one request that is to be held: counted apart, so that waiting costs a device nothing of its polls, and
  /// still nobody can open and displace waits without end.
  package func takeWait(_ subject: Subject, at requestor: RequestorID) throws(CallError) {
    try take(
      Meter(requestor: requestor, subject: subject, waits: true),
      limits.device.times(Self.waitFactor), least: Self.opening)
  }

  /// `least` is how much one node gives at once, however many share the limit.
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

  /// Takes one of each of these meters, or of none when one of them is used up: a viewer who is refused for what others
  /// at the same address did has spent nothing.
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

  /// Takes one new code in the place of a device's own: each is a row and a disk write, whatever its lifetime.
  package func takeReplacement(of device: DeviceHash, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .replacements(device)), limits.replacements)
  }

  /// Takes one sign-in of an app by a box: who owns the box signs as many words as he likes, with apps, devices and
  /// addresses that are made up, and each is a row.
  package func takeExchange(by box: BoxID, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .box(box)), limits.newcomers)
  }

  /// Takes one decision about a box's apps, or one key of it: each is a line of the audit log, whose oldest lines go
  /// when it is full.
  package func takeDecision(of device: DeviceHash, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .decisions(device)), limits.newcomers)
  }

  /// Takes one act of a viewer that leaves a line of the audit log: a name for a screen, a decision, a password.
  ///
  /// Whoever has an account could fill the log otherwise, with a form that is sent again and again.
  func takeAct(of viewer: Viewer, from address: IPAddress?) throws(CallError) {
    let guests = SourceKey(address).map(Subject.guests)
    guard let subject = viewer.account == nil ? guests : .viewer(viewer) else { return }
    try take(Meter(requestor: nil, subject: subject), limits.newcomers)
  }

  /// Whether there is a line left for a viewer's browser that signs in or out: nobody is kept from that, so the line is
  /// left out, and those of other acts have lines of their own.
  func hasSessionLine(for viewer: Viewer) -> Bool {
    // Guests are counted where they come from.
    guard viewer.account != nil else { return true }
    do throws(CallError) {
      try take(Meter(requestor: nil, subject: .sessions(viewer)), limits.newcomers)
      return true
    } catch { return false }
  }

  /// Takes one change that a client makes of its own registration: a line of the audit log, and a write.
  func takeChange(of client: ClientID, at requestor: RequestorID) throws(CallError) {
    try take(Meter(requestor: requestor, subject: .client(client)), limits.newcomers)
  }

  /// Takes one request of a network address, when an operator limits those.
  package func take(_ address: IPAddress?) throws(CallError) {
    guard let limit = limits.source, let source = SourceKey(address) else { return }
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

  /// Has this node give its part of what so many nodes may give together.
  ///
  /// Whoever is sent to one of them all the time gets that part and no more: whoever is sent to all in turn has then
  /// what one node alone would give.
  func divide(among nodes: Int) { state.withLock { $0.nodes = max(nodes, 1) } }

  /// How many nodes have the limits together, as far as this one has heard.
  var nodes: Int { state.withLock { $0.nodes } }

  /// Takes one that is new at a network address.
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
    guard let limit, let source = SourceKey(address) else { return }
    try take(Meter(requestor: requestor, subject: .newcomers(newcomer, source)), limit)
  }

  func allow(_ verdict: RateVerdict) throws(CallError) {
    guard case .over(let wait) = verdict else { return }
    metrics.count(.requestsThrottled)
    throw .tooMany(retryAfter: wait)
  }
}

extension RequestLimits.State {
  /// This node's part of a limit; not less at once than `least` of it.
  fileprivate func share(of limit: RateLimit, least: Int) -> RateLimit {
    nodes == 1 ? limit : limit.divided(among: nodes, least: least)
  }

  /// What a meter has left; of one for which there is no room, what it shares with others.
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
    // A flood of made-up devices must not cost a sweep for each of its requests.
    nextSweep = now + .seconds(1)
    devices = devices.filter { !$0.value.isFull(at: now) }
    // The room is kept: under the same flood the table would grow again step by step, and move all entries each time.
    devices.reserveCapacity(many)
    sources = sources.filter { !$0.value.isFull(at: now) }
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
