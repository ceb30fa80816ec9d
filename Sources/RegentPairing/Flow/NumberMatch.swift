/// A two-digit number that the box shows and the viewer must pick among three.
///
/// Whoever sends a stranger's code in a message cannot see the victim's phone nor show a number on a screen in front
/// of them: the viewer has nothing to compare with and the claim fails (cross-device phishing).
public struct NumberMatch: Hashable, Sendable {
  /// The number that the box shows.
  public let number: Int

  /// The three numbers that the phone offers, in the order shown, the right one among them.
  public let choices: [Int]

  /// Draws three different numbers and makes one of them the right one.
  public init(drawnFrom generator: inout some RandomNumberGenerator) {
    var choices: [Int] = []
    while choices.count < 3 {
      let candidate = Int.random(in: 10...99, using: &generator)
      if !choices.contains(candidate) { choices.append(candidate) }
    }
    self.choices = choices
    number = choices[Int.random(in: 0..<3, using: &generator)]
  }

  /// A match as a store kept it; nothing when the numbers do not fit the rules above.
  public init?(number: Int, choices: [Int]) {
    guard choices.count == 3, Set(choices).count == 3, choices.contains(number) else { return nil }
    guard choices.allSatisfy({ (10...99).contains($0) }) else { return nil }
    self.number = number
    self.choices = choices
  }
}
