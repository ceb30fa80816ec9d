internal import RegentEncodings

/// The limits of the JSON reader.
///
/// It refuses a text that exceeds one.
public struct JSONLimits: Sendable, Equatable {
  /// The maximum number of nested arrays and objects, at most ``deepest``.
  public let depth: Int
  /// The maximum length of the text in bytes.
  ///
  /// A value takes up to 20 times the memory of its text.
  public let bytes: Int
  /// Whether a string may contain U+0000, written `\u0000`.
  ///
  /// The default refuses it: code that keeps strings as C does would silently cut the value there, so that the checked
  /// value differs from the stored one.
  public let allowsNUL: Bool
  /// Whether a string may have more combining marks in a row than `CombiningMarks` allows.
  ///
  /// The default refuses it. Stored documents may have them, because releases before the limit accepted them.
  public let allowsManyMarks: Bool

  /// The largest ``depth`` that can be set.
  ///
  /// Reading and freeing a value are recursive and use stack for each level.
  public static let deepest = 512
  /// The default limits: 32 levels of nesting, 1 MiB, no U+0000.
  public static let standard = JSONLimits()
  /// The limits for documents that this program has written itself.
  public static let stored = JSONLimits(allowsManyMarks: true)

  /// Makes limits.
  ///
  /// A `depth` above ``deepest`` is reduced to that.
  public init(depth: Int = 32, bytes: Int = 1 << 20, allowsNUL: Bool = false, allowsManyMarks: Bool = false) {
    self.depth = min(depth, JSONLimits.deepest)
    self.bytes = bytes
    self.allowsNUL = allowsNUL
    self.allowsManyMarks = allowsManyMarks
  }
}

/// Why the JSON reader refused a text, and the byte at which it stopped.
///
/// The description never repeats the text, so it is safe to show and to log.
public struct JSONError: Error, Sendable, Equatable {
  public enum Problem: Sendable, Equatable {
    /// The JSON text is longer than the limit.
    case tooLong(limit: Int)
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The text begins with a byte order mark.
    case byteOrderMark
    /// The JSON text ends before the expected token.
    case ends(expected: String)
    /// The text has another token in place of the expected one.
    case unexpected(expected: String)
    /// The JSON text continues after the value.
    case trailing
    /// An object has two members of one name.
    case duplicateName
    /// A string contains a control character that must be escaped.
    case controlCharacter
    /// A string contains U+0000.
    case nul
    /// A string has too many combining marks in a row.
    case tooManyMarks
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
    /// A number has more than `limit` characters.
    case numberTooLong(limit: Int)
  }

  public let problem: Problem
  /// The offset of the error, in bytes from the start of the text.
  public let offset: Int

  public init(_ problem: Problem, at offset: Int) {
    self.problem = problem
    self.offset = offset
  }
}

extension JSONError: CustomStringConvertible {
  public var description: String { "not valid JSON at byte \(offset): \(problem)" }
}

extension JSONError.Problem: CustomStringConvertible {
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
    case .tooManyMarks: "a string has more than \(CombiningMarks.longestRun) combining marks in a row"
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
