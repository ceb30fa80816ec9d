import RegentCryptography

/// Pauses between retries: each about twice as long as the one before, up to ten seconds, with a random part.
///
/// The maximum is short because the screen shows nothing useful during a pause. A busy service asks for longer pauses
/// itself.
///
/// Without the random part, all boxes of a street would send requests at the same moment after a power cut.
struct Backoff: Sendable {
  private var failures = 0
  private let random: @Sendable (Int) -> Int

  static let first = 1_000
  static let longest = 10_000
  /// The longest pause that a service may ask for, in milliseconds.
  ///
  /// A longer one is shortened to this.
  static let longestAsked = 60_000

  /// - Parameter random: returns a random number from zero to below its argument.
  init(random: @escaping @Sendable (Int) -> Int = { Random.number(below: $0) }) {
    self.random = random
  }

  /// The next pause: between half of the current maximum and all of it.
  ///
  /// If the service `asked` for a pause, the next pause is the asked one (within limits) plus a random part.
  mutating func next(asked: Duration? = nil) -> Duration {
    let whole = min(Self.longest, Self.first << min(failures, 16))
    failures += 1
    if let asked {
      let least = min(max(asked, .milliseconds(Self.first)), .milliseconds(Self.longestAsked))
      return least + .milliseconds(random(whole / 4 + 1))
    }
    return .milliseconds(whole / 2 + random(whole / 2 + 1))
  }

  mutating func reset() { failures = 0 }
}
