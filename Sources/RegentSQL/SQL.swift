/// A statement and its values.
///
/// Interpolation binds: `"… WHERE id = \(id)"` sends `id` beside the text, never in it.
///
/// There is no way to make one from a `String`, so text from outside cannot become SQL by accident. Where text must
/// be taken as SQL, the call says so: `\(unsafeRawSQL: text)`.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
  package let text: String
  package let values: [SQLValue]

  /// The statement of a literal without values.
  public init(stringLiteral text: StaticString) {
    self.text = text.description
    self.values = []
  }

  /// The statement of a literal with values.
  public init(stringInterpolation parts: StringInterpolation) {
    text = parts.text
    values = parts.values
  }

  /// A statement that was put together once and is run often, with the values for its `?`.
  ///
  /// The text is never anything that came from outside this program: it would run.
  public init(unsafeRawSQL text: String, _ values: [SQLValue]) {
    self.text = text
    self.values = values
  }

  /// Collects the pieces of an interpolated literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text: String
    var values: [SQLValue]

    /// An empty collection with room for the pieces.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text = ""
      text.reserveCapacity(literalCapacity + 2 * interpolationCount)
      values = []
      values.reserveCapacity(interpolationCount)
    }

    /// Adds SQL that stands in the source.
    public mutating func appendLiteral(_ literal: StaticString) {
      literal.withUTF8Buffer { bytes in
        text += unsafe String(decoding: bytes, as: UTF8.self)
      }
    }

    /// Adds a value.
    public mutating func appendInterpolation(_ value: some SQLBindable) {
      text += "?"
      values.append(value.sqlValue)
    }

    /// Adds a parenthesised list of values, for `IN \(list: …)`.
    ///
    /// Every length is a statement of its own in the cache: keep the lists short.
    public mutating func appendInterpolation(list: [some SQLBindable]) {
      text += "("
      for (index, value) in list.enumerated() {
        text += index == 0 ? "?" : ",?"
        values.append(value.sqlValue)
      }
      text += ")"
    }

    /// Adds a part of a statement, with its values.
    public mutating func appendInterpolation(part: SQL) {
      text += part.text
      values += part.values
    }

    /// Adds text as SQL.
    ///
    /// Never anything that came from outside this program: it would run.
    public mutating func appendInterpolation(unsafeRawSQL text: String) {
      self.text += text
    }
  }
}

extension SQL: CustomStringConvertible, CustomReflectable {
  /// The statement with `?` in place of its values.
  public var description: String { text }

  /// The statement only: the values may be secrets.
  public var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
