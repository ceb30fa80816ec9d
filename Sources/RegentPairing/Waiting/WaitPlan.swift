/// Whether a request that asked to wait is parked (long poll) or answered at once.
public enum WaitPlan: Hashable, Sendable {
  /// The longest wait in seconds.
  ///
  /// Proxies and routers drop silent connections after 60 seconds.
  public static let longest = 55

  /// Answer now.
  case answer
  /// Park the request until the sequence differs from this one, at most for `span`.
  case park(sequence: Int, span: Duration)

  /// The plan for a device that asked to wait `seconds` and has seen the sequence `after`.
  ///
  /// The service answers at once if the code has ended, if the device has missed a change, or if it has no live code.
  /// `after` is compared for equality: a sequence that this code has not reached belongs to an earlier code, and
  /// waiting for it might never end. `sooner` comes from ``sooner(_:drawnFrom:)``.
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
    // The wait ends with the code, because expiry is a change too. It is a duration and not a time, because the wall
    // clock may be set meanwhile.
    let span = min(Duration.seconds(Self.granted(seconds)) - sooner, flow.expires.since(now))
    self = .park(sequence: flow.sequence, span: span)
  }

  /// The wait that the service grants: what the client asked for, at most ``longest``.
  ///
  /// `Preference-Applied` reports it.
  public static func granted(_ seconds: Int) -> Int {
    min(max(seconds, 0), longest)
  }

  /// A random time by which a wait without events ends earlier than asked for: at most an eighth of it.
  ///
  /// Boxes whose waits began together, as after a restart, would otherwise all ask again in the same moment, each
  /// minute anew. A box that is approved in that moment would get its answer after all of them.
  public static func sooner(
    _ seconds: Int, drawnFrom generator: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int.random(in: 0...granted(seconds) * 1000 / 8, using: &generator))
  }
}
