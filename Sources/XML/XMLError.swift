/// The limits of a document.
public struct XMLLimits: Hashable, Sendable {
  /// The most bytes of a document.
  public var bytes: Int
  /// The deepest nesting of elements.
  public var depth: Int
  /// The most elements of a document.
  public var elements: Int
  /// The most attributes of one element.
  public var attributes: Int
  /// The most bytes of a name with its namespace.
  ///
  /// A long namespace is repeated in every name of the tree.
  public var name: Int

  /// The default limits are enough for a signed assertion.
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
  /// It contains a feature that is always refused.
  case forbidden(what: String, line: Int)
  /// It exceeds a limit.
  case tooLarge(what: String, limit: Int)
}

extension XMLError: CustomStringConvertible {
  /// The reason and its place, and what to do.
  ///
  /// It repeats nothing of the document.
  public var description: String {
    switch self {
    case .notWellFormed(let reason, let line, let column):
      "not well-formed XML at line \(line), column \(column): \(reason)"
    case .forbidden(let what, let line): "line \(line) has \(what): leave it out"
    case .tooLarge(let what, let limit): "the XML has too many \(what): at most \(limit)"
    }
  }
}
