/// What a reader allows before it refuses.
public struct JSONLimits: Sendable, Equatable {
  /// How many arrays and objects may be open at once, at most ``deepest``.
  public let depth: Int
  /// How long the text may be, in bytes.
  ///
  /// Values take up to 20 times the memory of their text.
  public let bytes: Int
  /// Whether a string may contain U+0000, written `\u0000`.
  ///
  /// Refused unless asked for: whatever keeps strings as C does would silently cut the value there, so
  /// that what is checked differs from what is stored.
  public let allowsNUL: Bool

  /// The depth no limit may exceed: reading and releasing a value are recursive.
  public static let deepest = 512
  /// 32 levels, 1 MiB, no U+0000.
  public static let standard = JSONLimits()

  /// The standard limits, except for what is given.
  public init(depth: Int = 32, bytes: Int = 1 << 20, allowsNUL: Bool = false) {
    self.depth = min(depth, JSONLimits.deepest)
    self.bytes = bytes
    self.allowsNUL = allowsNUL
  }
}

/// Why a text is not JSON that we read: what is wrong, and at which byte.
///
/// The description never repeats the text, so it is safe to show and to log.
public struct JSONError: Error, Sendable, Equatable {
  /// What can be wrong.
  public enum Problem: Sendable, Equatable {
    /// The text is longer than the limit.
    case tooLong(limit: Int)
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The text begins with a byte order mark.
    case byteOrderMark
    /// The text ends where something was expected.
    case ends(expected: String)
    /// Something else stands where this was expected.
    case unexpected(expected: String)
    /// Bytes follow the value.
    case trailing
    /// An object has two members of one name.
    case duplicateName
    /// A string contains a control character that must be escaped.
    case controlCharacter
    /// A string contains U+0000.
    case nul
    /// A string is not UTF-8.
    case invalidUTF8
    /// A backslash is not followed by one of `"\/bfnrt` or `u` and four hex digits.
    case invalidEscape
    /// A `\u` escape is half of a surrogate pair.
    case loneSurrogate
    /// A number begins with a superfluous zero.
    case leadingZero
    /// A number is beyond what a `Double` holds.
    case numberTooLarge
    /// A number has more characters than any sensible one.
    case numberTooLong(limit: Int)
  }

  /// What is wrong.
  public let problem: Problem
  /// Where, in bytes from the start.
  public let offset: Int

  /// An error from its two parts.
  public init(_ problem: Problem, at offset: Int) {
    self.problem = problem
    self.offset = offset
  }
}

extension JSONError: CustomStringConvertible {
  /// One sentence with the offset and, where it helps, what to do.
  public var description: String { "not valid JSON at byte \(offset): \(problem)" }
}

extension JSONError.Problem: CustomStringConvertible {
  /// What is wrong, in words.
  public var description: String {
    switch self {
    case .tooLong(let limit): "the text is longer than \(limit) bytes"
    case .tooDeep(let limit): "more than \(limit) arrays and objects are open"
    case .byteOrderMark: "it begins with a byte order mark; send UTF-8 without one"
    case .ends(let expected): "it ends, \(expected) was expected"
    case .unexpected(let expected): "\(expected) was expected"
    case .trailing: "something follows the value"
    case .duplicateName: "a member of this name was already given"
    case .controlCharacter: "a control character in a string; escape it as \\u00XX"
    case .nul: "a string contains U+0000"
    case .invalidUTF8: "a string is not valid UTF-8"
    case .invalidEscape:
      "after a backslash only \" \\ / b f n r t or u and four hex digits may follow"
    case .loneSurrogate: "half of a surrogate pair; write both halves"
    case .leadingZero: "a number may not begin with a superfluous zero"
    case .numberTooLarge: "the number is too large"
    case .numberTooLong(let limit): "the number has more than \(limit) characters"
    }
  }
}
