/// Whether a request that asked to wait is parked (long poll) or answered at once.
public enum WaitPlan: Hashable, Sendable {
  /// The longest wait in seconds.
  ///
  /// Proxies and routers drop silent connections after 60 seconds.
  public static let longest = 55

  /// Answer the request now.
  case answer
  /// Park the request until the code's sequence number differs from this one, at most for `span`.
  case park(sequence: Int, span: Duration)

  /// Plans the answer for a device that asked to wait `seconds` and has seen the sequence number `after`.
  ///
  /// The service answers at once if the code has ended, if the device has missed a change, or if it has no live code.
  /// The plan compares `after` for equality. A higher number belongs to an earlier code, and waiting for it might never
  /// end. `sooner` comes from ``sooner(_:drawnFrom:)``.
  public init(
    seconds: Int, after: Int?, flow: PairingFlow?, at now: Instant, sooner: Duration = .zero
  ) {
    guard seconds > 0, let flow = flow?.settled(at: now), flow.state.isPending else {
      self = .answer
      return
    }
    guard after == nil || after == flow.sequence else {
      self = .answer
      return
    }
    // The wait ends when the code expires, because expiry is a change too. The end is stored as a duration and not as a
    // time, because the wall clock may be set meanwhile.
    let span = min(Duration.seconds(Self.granted(seconds)) - sooner, flow.expires.since(now))
    self = .park(sequence: flow.sequence, span: span)
  }

  /// The wait in seconds that the service grants: what the client asked for, at most ``longest``.
  ///
  /// The response header `Preference-Applied` contains it.
  public static func granted(_ seconds: Int) -> Int {
    min(max(seconds, 0), longest)
  }

  /// A random time by which a wait without events ends earlier than asked for: at most an eighth of it.
  ///
  /// Boxes whose waits began together, as after a restart, would otherwise all ask again in the same moment, each
  /// minute anew. A box whose code is approved in that moment would get its answer only after all of those requests.
  public static func sooner(
    _ seconds: Int, drawnFrom generator: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int.random(in: 0...granted(seconds) * 1000 / 8, using: &generator))
  }
}
