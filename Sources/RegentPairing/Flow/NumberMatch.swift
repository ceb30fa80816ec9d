/// A two-digit number that the box shows and the viewer must type on the phone.
///
/// It protects against a code that an attacker sends in a message: that viewer has no screen with a number in front
/// of them, and a guess succeeds once in ninety times with a single try. It does not protect a viewer who types a
/// number that the attacker reads out from the box; the page warns against that.
public struct NumberMatch: Hashable, Sendable {
  /// The number that the box shows, 10 to 99.
  public let number: Int

  /// Draws a random number.
  public init(drawnFrom generator: inout some RandomNumberGenerator) {
    number = Int.random(in: NumberMatch.all, using: &generator)
  }

  /// A match from a stored number; nil if the number is not between 10 and 99.
  public init?(number: Int) {
    guard NumberMatch.all.contains(number) else { return nil }
    self.number = number
  }

  /// Parses the number that a viewer typed; nil if it does not have two digits.
  ///
  /// Such input does not count as a try.
  public static func typed(_ text: String) -> Int? {
    let digits = text.filter { !$0.isWhitespace }
    guard digits.utf8.count == 2, let number = Int(digits), all.contains(number) else { return nil }
    return number
  }

  private static let all = 10...99
}
