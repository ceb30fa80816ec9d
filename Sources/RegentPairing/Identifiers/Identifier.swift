/// A checked name or id with a type of its own, so that the compiler refuses one kind of identifier where another is
/// expected.
///
/// ``init(_:)`` is the only way to create one. So its text is never empty, never over the length limit, and has no
/// characters that could break a header, a log line or a row.
public struct Identifier<Kind: IdentifierKind>: Hashable, Sendable, CustomStringConvertible {
  public let text: String

  /// Checks the text of an identifier; nil if the kind of identifier does not allow the text.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Kind.longest else { return nil }
    guard Kind.allowsAll(of: text) else { return nil }
    self.text = text
  }

  public var description: String { text }
}

extension Identifier {
  /// Compares byte by byte.
  ///
  /// Swift treats `é` as one character and as two characters as equal, but the database treats them as two names. A
  /// rule for one account must not apply to the other account.
  public static func == (left: Self, right: Self) -> Bool {
    left.text == right.text
      && (Kind.hasOneSpelling || left.text.utf8.elementsEqual(right.text.utf8))
  }
}

extension Identifier: Comparable {
  /// Orders identifiers by the bytes of their text, as listings do.
  public static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// The length and the characters that one kind of identifier may have.
public protocol IdentifierKind: Sendable {
  /// The maximum length of an identifier of this kind, in UTF-8 bytes.
  static var longest: Int { get }
  /// Whether an identifier of this kind may contain the character.
  static func allows(_ scalar: Unicode.Scalar) -> Bool
  /// Whether all characters of the text are allowed.
  ///
  /// A kind of identifier may implement this faster than character by character.
  static func allowsAll(of text: String) -> Bool
  /// Whether equal strings of this kind always have equal bytes, as ASCII strings have.
  static var hasOneSpelling: Bool { get }
}

extension IdentifierKind {
  public static func allowsAll(of text: String) -> Bool { text.unicodeScalars.allSatisfy(allows) }

  public static var hasOneSpelling: Bool { false }
}

/// An identifier of ASCII letters, digits, `.`, `_` and `-`, which is safe in paths, headers and file names.
public protocol PlainIdentifierKind: IdentifierKind {}

extension PlainIdentifierKind {
  public static var longest: Int { 128 }

  /// ASCII strings that are equal have equal bytes.
  public static var hasOneSpelling: Bool { true }

  /// Allows ASCII letters, digits, `.`, `_` and `-`.
  public static func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
    default: false
    }
  }

  /// Checks bytes instead of characters, because all allowed characters are ASCII.
  public static func allowsAll(of text: String) -> Bool {
    let bytes = text.utf8.span
    for place in bytes.indices {
      switch bytes[place] {
      case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x2E, 0x5F, 0x2D: continue
      default: return false
      }
    }
    return true
  }
}

/// An identifier that people or devices choose.
///
/// It may contain all but control characters and invisible ones.
public protocol ChosenIdentifierKind: IdentifierKind {}

extension ChosenIdentifierKind {
  /// Allows everything but control, format (bidirectional overrides, zero width) and line-separating characters.
  public static func allows(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
      return false
    default: return true
    }
  }

  /// Checks ASCII text, which most names are, without the slow lookup of Unicode properties.
  public static func allowsAll(of text: String) -> Bool {
    let bytes = text.utf8.span
    for place in bytes.indices {
      guard bytes[place] < 0x80 else { return text.unicodeScalars.allSatisfy(allows) }
      guard bytes[place] >= 0x20, bytes[place] != 0x7F else { return false }
    }
    return true
  }
}
