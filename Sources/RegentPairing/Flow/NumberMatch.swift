/// A two-digit number that the box shows and the viewer must type on the phone.
///
/// Whoever sends a stranger's code in a message shows no number on a screen in front of the viewer, who has nothing to
/// type: a guess succeeds once in ninety times, and there is one. It does not help a viewer who types a number that the
/// stranger reads to them from the box; the page says that nobody may tell it.
public struct NumberMatch: Hashable, Sendable {
  /// The number that the box shows, 10 to 99.
  public let number: Int

  /// Draws a number.
  public init(drawnFrom generator: inout some RandomNumberGenerator) {
    number = Int.random(in: NumberMatch.all, using: &generator)
  }

  /// A match as a store kept it; nothing when no box would show that number.
  public init?(number: Int) {
    guard NumberMatch.all.contains(number) else { return nil }
    self.number = number
  }

  /// The number that a viewer typed; nothing when it is none that a box could show, which is no try.
  public static func typed(_ text: String) -> Int? {
    let digits = text.filter { !$0.isWhitespace }
    guard digits.utf8.count == 2, let number = Int(digits), all.contains(number) else { return nil }
    return number
  }

  /// The numbers of two digits, as they are written.
  private static let all = 10...99
}
