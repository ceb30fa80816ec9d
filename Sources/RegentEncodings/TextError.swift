/// Why a text is not valid base64 or hex.
public struct TextError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Problem: Sendable, Equatable {
    /// The text has a character outside the alphabet.
    case character
    /// The text has a length that no encoded text has.
    case length
    /// The text has padding that is missing, superfluous or in the wrong place.
    case padding
    /// The last character of the text has non-zero bits that belong to no byte: a second spelling of the same bytes.
    case trailingBits
  }

  /// The encoding of the text, for example "base64url".
  public let encoding: String
  public let problem: Problem
  /// The offset of the error in bytes from the start of the text.
  public let offset: Int

  public init(encoding: String, problem: Problem, offset: Int) {
    self.encoding = encoding
    self.problem = problem
    self.offset = offset
  }

  /// A sentence about the error.
  ///
  /// It never contains the text, which may be secret.
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
