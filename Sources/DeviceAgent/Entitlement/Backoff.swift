import RegentCryptography

/// Pauses between attempts: twice as long each time, up to ten seconds, and never the same for two boxes.
///
/// Ten seconds, as the screen shows nothing useful meanwhile. A service that is busy asks for longer pauses by itself.
///
/// Without the random part all boxes of a street would call at the same moment when the power comes back.
struct Backoff: Sendable {
  private var failures = 0
  private let random: @Sendable (Int) -> Int

  static let first = 1_000
  static let longest = 10_000
  /// What a busy service may ask for at most.
  static let longestAsked = 60_000

  /// A fresh count; `random` gives a number below its argument.
  init(random: @escaping @Sendable (Int) -> Int = { Random.number(below: $0) }) {
    self.random = random
  }

  /// The next pause: between half and the whole of what the count of failures says, or a little more than what the
  /// service `asked` for, as far as that is within reason.
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
