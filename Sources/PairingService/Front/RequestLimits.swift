package import HTTPCodec
package import Pairing
package import PairingStore
internal import Platform

/// The one place that decides limits: of devices, of sources, and of wrong codes.
package final class RequestLimits: Sendable {
  /// An account as wrong codes are counted for it.
  package typealias Guesser = Pairing.Viewer

  fileprivate struct Device: Hashable {
    let requestor: RequestorID
    let device: DeviceHash
  }

  fileprivate struct State {
    var devices: [Device: RateMeter] = [:]
    var sources: [SourceKey: RateMeter] = [:]
    var guesses: GuessLedger<Guesser>
    /// Boxes that poll a code which nobody knows any more: counted apart, so that a forgotten box at home does not keep
    /// the viewer's phone from typing the right code.
    var polls: GuessLedger<Guesser>
    var nextSweep = Uptime(milliseconds: .min)
  }

  /// Meters that are full again tell nothing; beyond so many they are looked through.
  fileprivate static let manyMeters = 100_000
  /// A box that polls every five seconds stays within it.
  private static let wrongPolls = FailureLimit(count: 150, span: .seconds(600))
  private static let allWrongPolls = FailureLimit(count: 600, span: .seconds(60))
  private let limits: ServiceLimits
  private let clock: ServiceClock
  private let metrics: ServiceMetrics
  private let state: Locked<State>

  init(_ limits: ServiceLimits, clock: ServiceClock, metrics: ServiceMetrics) {
    self.limits = limits
    self.clock = clock
    self.metrics = metrics
    state = Locked(
      State(
        guesses: GuessLedger(each: limits.wrongCodes, all: limits.allWrongCodes),
        polls: GuessLedger(each: Self.wrongPolls, all: Self.allWrongPolls)))
  }

  /// How many codes may be pending.
  package var liveCodes: Int { limits.liveCodes }

  /// Takes one request of a device.
  package func take(_ device: DeviceHash, at requestor: RequestorID) throws(CallError) {
    let now = clock.uptime
    try allow(
      state.withLock { state in
        state.makeRoom(at: now)
        return state.devices[Device(requestor: requestor, device: device), default: RateMeter()]
          .take(of: limits.device, at: now)
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
    guard let source = SourceKey(address) else { return }
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
