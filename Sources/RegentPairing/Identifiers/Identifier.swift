/// A name from outside, checked once and carried as a type of its own, so that no call can mix two kinds up.
///
/// The only way to get one is ``init(_:)``, so whoever holds one holds text that is neither empty, nor endless, nor
/// able to break a header, a log line or a row.
public struct Identifier<Kind: IdentifierKind>: Hashable, Sendable, CustomStringConvertible {
  /// The text as it was given.
  public let text: String

  /// Takes the text when its kind allows it.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Kind.longest else { return nil }
    guard Kind.allowsAll(of: text) else { return nil }
    self.text = text
  }

  /// The text, for messages.
  public var description: String { text }
}

extension Identifier {
  /// The same text byte by byte.
  ///
  /// Two spellings of one letter (`é` as one character or as two) are equal texts for Swift and two names for the
  /// store: a rule for one account must not hold for another.
  public static func == (left: Self, right: Self) -> Bool {
    left.text == right.text
      && (Kind.hasOneSpelling || left.text.utf8.elementsEqual(right.text.utf8))
  }
}

extension Identifier: Comparable {
  /// Orders by the text's bytes: the order of listings.
  public static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// What one kind of identifier may be made of.
public protocol IdentifierKind: Sendable {
  /// The largest size in UTF-8 bytes.
  static var longest: Int { get }
  /// Whether a character may be part of it.
  static func allows(_ scalar: Unicode.Scalar) -> Bool
  /// Whether every character of a text may be part of it; said once for a kind, asked for each name of a call.
  static func allowsAll(of text: String) -> Bool
  /// Whether texts that are equal for Unicode are always the same bytes, as those of ASCII are.
  static var hasOneSpelling: Bool { get }
}

extension IdentifierKind {
  /// Character by character.
  public static func allowsAll(of text: String) -> Bool { text.unicodeScalars.allSatisfy(allows) }

  /// Not unless the kind says so.
  public static var hasOneSpelling: Bool { false }
}

/// Letters, digits, `.`, `_` and `-`: identifiers that stand in paths, headers and file names.
public protocol PlainIdentifierKind: IdentifierKind {}

extension PlainIdentifierKind {
  /// 128 bytes.
  public static var longest: Int { 128 }

  /// ASCII has one.
  public static var hasOneSpelling: Bool { true }

  /// Letters, digits, `.`, `_` and `-` of ASCII.
  public static func allows(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
    default: false
    }
  }

  /// The same for a whole text: what is allowed is ASCII, so bytes will do.
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

/// Text that people or devices chose: anything but characters that steer terminals or hide.
public protocol ChosenIdentifierKind: IdentifierKind {}

extension ChosenIdentifierKind {
  /// Everything but control, format (bidirectional overrides, zero width) and line separating characters.
  public static func allows(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
      return false
    default: return true
    }
  }

  /// The same for a whole text; one of ASCII alone, as most are, needs no table of Unicode.
  public static func allowsAll(of text: String) -> Bool {
    let bytes = text.utf8.span
    for place in bytes.indices {
      guard bytes[place] < 0x80 else { return text.unicodeScalars.allSatisfy(allows) }
      guard bytes[place] >= 0x20, bytes[place] != 0x7F else { return false }
    }
    return true
  }
}
