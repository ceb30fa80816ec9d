/// How large a document may be.
public struct XMLLimits: Hashable, Sendable {
  /// The document, in bytes.
  public var bytes: Int
  /// Elements within elements.
  public var depth: Int
  /// Elements altogether.
  public var elements: Int
  /// Attributes of one element.
  public var attributes: Int
  /// A name with its namespace, in bytes: a long namespace is repeated in every name of the tree.
  public var name: Int

  /// Limits; what is not said is enough for a signed assertion.
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

/// Why a document was not read.
public enum XMLError: Error, Hashable, Sendable {
  /// It is not XML.
  case notWellFormed(reason: String, line: Int, column: Int)
  /// It has something that is never read.
  case forbidden(what: String, line: Int)
  /// It is larger than it may be.
  case tooLarge(what: String, limit: Int)
}

extension XMLError: CustomStringConvertible {
  /// What is wrong, where, and what to do about it; nothing of the document is repeated.
  public var description: String {
    switch self {
    case .notWellFormed(let reason, let line, let column):
      "not well-formed XML at line \(line), column \(column): \(reason)"
    case .forbidden(let what, let line): "line \(line) has \(what): leave it out"
    case .tooLarge(let what, let limit): "the XML has too many \(what): at most \(limit)"
    }
  }
}
