internal import RegentEncodings

/// The limits that the parser puts on a document.
public struct XMLLimits: Hashable, Sendable {
  /// The maximum size of a document in bytes.
  public var bytes: Int
  /// The maximum depth to which elements may be nested.
  public var depth: Int
  /// The maximum number of elements in a document.
  public var elements: Int
  /// The maximum number of attributes of one element.
  public var attributes: Int
  /// The maximum length of a name with its namespace, in bytes.
  ///
  /// A long namespace is repeated in every name of the tree.
  public var name: Int

  /// Creates limits.
  ///
  /// The defaults are enough for a signed assertion.
  public init(
    bytes: Int = 65_536, depth: Int = 32, elements: Int = 1024, attributes: Int = 64,
    name: Int = 512
  ) {
    self.bytes = bytes
    self.depth = depth
    self.elements = elements
    self.attributes = attributes
    self.name = name
  }
}

/// Why a document was refused.
public enum XMLError: Error, Hashable, Sendable {
  case notWellFormed(reason: String, line: Int, column: Int)
  /// The document contains a feature of XML that is always refused.
  case forbidden(what: String, line: Int)
  /// The text has more combining marks in a row than `CombiningMarks` allows.
  case tooManyMarks
  /// The document exceeds one of the ``XMLLimits``.
  case tooLarge(what: String, limit: Int)
}

extension XMLError: CustomStringConvertible {
  /// Why the document was refused, at which line, and what to do.
  ///
  /// The text repeats nothing of the document.
  public var description: String {
    switch self {
    case .notWellFormed(let reason, let line, let column):
      "not well-formed XML at line \(line), column \(column): \(reason)"
    case .forbidden(let what, let line): "line \(line) has \(what): leave it out"
    case .tooManyMarks: "the XML has more than \(CombiningMarks.longestRun) combining marks in a row"
    case .tooLarge(let what, let limit): "the XML has too many \(what): at most \(limit)"
    }
  }
}
