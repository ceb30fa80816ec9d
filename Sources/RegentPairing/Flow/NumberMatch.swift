/// A two-digit number that the box shows and the viewer must type on the phone.
///
/// It protects against a code that an attacker sends in a message. The viewer who gets the message sees no screen with
/// the number, and has one try to guess it among ninety. It does not protect a viewer who types a number that the
/// attacker reads from the box and sends too. The page warns against that.
public struct NumberMatch: Hashable, Sendable {
  /// The number that the box shows, 10 to 99.
  public let number: Int

  /// Draws a random number from 10 to 99.
  public init(drawnFrom generator: inout some RandomNumberGenerator) {
    number = Int.random(in: NumberMatch.all, using: &generator)
  }

  /// Creates a number match from a stored number; nil if the number is not between 10 and 99.
  public init?(number: Int) {
    guard NumberMatch.all.contains(number) else { return nil }
    self.number = number
  }

  /// Parses the number that a viewer typed; nil if it does not have two digits.
  ///
  /// Input without two digits does not count as a try.
  public static func typed(_ text: String) -> Int? {
    let digits = text.filter { !$0.isWhitespace }
    guard digits.utf8.count == 2, let number = Int(digits), all.contains(number) else { return nil }
    return number
  }

  private static let all = 10...99
}
