/// An SQL statement and its parameters.
///
/// Interpolation binds: `"… WHERE id = \(id)"` sends `id` as a parameter and puts a `?` into the text.
///
/// A statement cannot be made from a `String`, so input cannot become SQL by accident. Only `\(unsafeRawSQL: text)`
/// inserts text as SQL.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
  package let text: String
  package let values: [SQLValue]

  /// A statement without parameters.
  public init(stringLiteral text: StaticString) {
    self.text = text.description
    self.values = []
  }

  /// A statement with interpolated parameters.
  public init(stringInterpolation parts: StringInterpolation) {
    text = parts.text
    values = parts.values
  }

  /// A statement that was composed once and runs often, with the values for its `?`.
  ///
  /// `text` must not come from outside this program, because it would be run as SQL.
  public init(unsafeRawSQL text: String, _ values: [SQLValue]) {
    self.text = text
    self.values = values
  }

  public struct StringInterpolation: StringInterpolationProtocol {
    var text: String
    var values: [SQLValue]

    public init(literalCapacity: Int, interpolationCount: Int) {
      text = ""
      text.reserveCapacity(literalCapacity + 2 * interpolationCount)
      values = []
      values.reserveCapacity(interpolationCount)
    }

    /// Adds text from a string literal of this program to the statement.
    public mutating func appendLiteral(_ literal: StaticString) {
      literal.withUTF8Buffer { bytes in
        text += unsafe String(decoding: bytes, as: UTF8.self)
      }
    }

    /// Adds a parameter to the statement: a `?` in the text, and the value beside it.
    public mutating func appendInterpolation(_ value: some SQLBindable) {
      text += "?"
      values.append(value.sqlValue)
    }

    /// Adds to the statement a parenthesised list of parameters, for `IN \(list: …)`.
    ///
    /// Each length makes another statement in the cache, so keep the lists short.
    public mutating func appendInterpolation(list: [some SQLBindable]) {
      text += "("
      for (index, value) in list.enumerated() {
        text += index == 0 ? "?" : ",?"
        values.append(value.sqlValue)
      }
      text += ")"
    }

    /// Inserts the text and the parameters of another statement.
    public mutating func appendInterpolation(part: SQL) {
      text += part.text
      values += part.values
    }

    /// Adds a text to the statement as SQL.
    ///
    /// `text` must not come from outside this program, because it would be run as SQL.
    public mutating func appendInterpolation(unsafeRawSQL text: String) {
      self.text += text
    }
  }
}

extension SQL: CustomStringConvertible, CustomReflectable {
  /// The statement with `?` in place of its parameters' values.
  public var description: String { text }

  /// Shows only the statement, because the values may be secrets.
  public var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
