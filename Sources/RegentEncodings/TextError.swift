/// Why a text is not the base64 or hex of anything.
public struct TextError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What can be wrong.
  public enum Problem: Sendable, Equatable {
    /// A character outside the alphabet.
    case character
    /// A length no encoding has.
    case length
    /// Padding that is missing, superfluous or in the wrong place.
    case padding
    /// Bits after the last byte that are not zero: a second spelling of the same value.
    case trailingBits
  }

  /// The encoding, for example "base64url".
  public let encoding: String
  /// What is wrong.
  public let problem: Problem
  /// Where, in bytes from the start.
  public let offset: Int

  /// An error from its parts.
  public init(encoding: String, problem: Problem, offset: Int) {
    self.encoding = encoding
    self.problem = problem
    self.offset = offset
  }

  /// A sentence that does not repeat the text.
  public var description: String {
    let what =
      switch problem {
      case .character: "a character that does not belong there"
      case .length: "no text has this length"
      case .padding: "the padding is wrong"
      case .trailingBits: "the last character has bits set that stand for nothing"
      }
    return "not \(encoding) at byte \(offset): \(what)"
  }
}
