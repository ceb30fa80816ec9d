/// Whether a request that asked to wait is held or answered at once.
public enum WaitPlan: Hashable, Sendable {
  /// The longest wait, in seconds: below the 60 after which proxies and routers drop silent connections.
  public static let longest = 55

  /// Answer now.
  case answer
  /// Hold the reply until the sequence is no longer this one, at most for so long.
  case park(sequence: Int, span: Duration)

  /// The plan for a device that asked for `seconds` and has seen `after`.
  ///
  /// A code that is over, a device that has missed something, and a device without a live code are answered at once.
  /// `after` is compared for equality: a sequence that this code has not reached belongs to an earlier code, and
  /// waiting for it could take for ever. `sooner` is what ``sooner(_:drawnFrom:)`` drew.
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
    // The code's end is a change as well; the answer comes then, not up to a minute later. A span, not a time of day:
    // the wall clock may be set while the reply is held.
    let span = min(Duration.seconds(Self.granted(seconds)) - sooner, flow.expires.since(now))
    self = .park(sequence: flow.sequence, span: span)
  }

  /// The wait that is granted, which is what `Preference-Applied` says: what was asked for, at most the longest.
  public static func granted(_ seconds: Int) -> Int {
    min(max(seconds, 0), longest)
  }

  /// How much sooner than asked for a wait ends that nothing happens in: an eighth at most.
  ///
  /// Boxes whose waits began together, as after a restart, would all be answered and ask again in one moment, and then
  /// every minute anew; whoever is approved in that moment would be told behind all of them.
  public static func sooner(
    _ seconds: Int, drawnFrom generator: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int.random(in: 0...granted(seconds) * 1000 / 8, using: &generator))
  }
}
