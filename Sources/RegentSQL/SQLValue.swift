/// A parameter or column value, kept apart from the SQL text.
public enum SQLValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  /// Text, which may contain NUL.
  case text(String)
  case blob([UInt8])
}

// A value may be a secret, so printing it in any way shows only its type.
extension SQLValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The type of the value, without the value.
  public var description: String {
    switch self {
    case .null: "null"
    case .integer: "an integer"
    case .real: "a number"
    case .text: "a text"
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }

  public var debugDescription: String { description }

  /// The mirror is empty, so that reflection does not reveal the value.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A type whose values can be statement parameters.
public protocol SQLBindable {
  /// This value as a parameter of a statement.
  var sqlValue: SQLValue { get }
}

extension SQLValue: SQLBindable {
  public var sqlValue: SQLValue { self }
}

extension Int64: SQLBindable {
  public var sqlValue: SQLValue { .integer(self) }
}

extension Int: SQLBindable {
  public var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Bool: SQLBindable {
  /// A Boolean as a parameter: 1 for true, 0 for false.
  public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}

extension Double: SQLBindable {
  public var sqlValue: SQLValue { .real(self) }
}

extension String: SQLBindable {
  public var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLBindable {
  public var sqlValue: SQLValue { .blob(self) }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
  /// An optional as a parameter: the wrapped value, or NULL.
  public var sqlValue: SQLValue { self?.sqlValue ?? .null }
}
