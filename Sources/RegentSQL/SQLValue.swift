/// A value that travels beside a statement, never inside its text.
public enum SQLValue: Hashable, Sendable {
  /// No value.
  case null
  /// A whole number.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// Text, which may contain NUL.
  case text(String)
  /// Bytes.
  case blob([UInt8])
}

// A value may be a secret: printing one shows its kind only, whichever way it is printed.
extension SQLValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The kind of the value, without the value.
  public var description: String {
    switch self {
    case .null: "null"
    case .integer: "an integer"
    case .real: "a number"
    case .text: "a text"
    case .blob(let bytes): "\(bytes.count) bytes"
    }
  }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Nothing to look into.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A type whose values can be given to a statement.
public protocol SQLBindable {
  /// The value as SQLite stores it.
  var sqlValue: SQLValue { get }
}

extension SQLValue: SQLBindable {
  public var sqlValue: SQLValue { self }
}

extension Int64: SQLBindable {
  /// The number.
  public var sqlValue: SQLValue { .integer(self) }
}

extension Int: SQLBindable {
  /// The number.
  public var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Bool: SQLBindable {
  /// 1 or 0.
  public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}

extension Double: SQLBindable {
  /// The number.
  public var sqlValue: SQLValue { .real(self) }
}

extension String: SQLBindable {
  /// The text.
  public var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLBindable {
  /// The bytes.
  public var sqlValue: SQLValue { .blob(self) }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
  /// The wrapped value, or null.
  public var sqlValue: SQLValue { self?.sqlValue ?? .null }
}
