public import RegentJSON
public import RegentPairing

// Types of document members beyond those of JSON itself.

extension Identifier: JSONScalar {
  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    self = try object.identifier(name)
  }

  public var jsonValue: JSONValue? { .string(text) }
}

/// A time, as milliseconds since 1970.
extension Moment: Codable, JSONScalar where Clock == WallClock {
  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    self.init(milliseconds: try object.int64(name))
  }

  public var jsonValue: JSONValue? { .integer(milliseconds) }
}

/// An enumeration that is written as one of its words.
public protocol AdminWord: JSONScalar, RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

extension AdminWord {
  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    self = try object.word(name)
  }

  public var jsonValue: JSONValue? { .string(rawValue) }

  public init(from decoder: any Decoder) throws { try self.init(at: decoder) }

  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
}

/// Reads and writes a member that needs more than its type, such as a default or a range.
public protocol MemberRule: Sendable {
  associatedtype Value: Hashable & Sendable

  /// Reads the member; returns a default when it may be missing and is.
  static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Value

  /// The value to write; nil leaves the member out.
  static func json(_ value: Value) -> JSONValue?
}

/// A member that is read and written by a rule.
@propertyWrapper
public struct Ruled<Rule: MemberRule>: JSONScalar, Hashable, Sendable {
  public var wrappedValue: Rule.Value

  public init(wrappedValue: Rule.Value) {
    self.wrappedValue = wrappedValue
  }

  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    wrappedValue = try Rule.read(name, of: object)
  }

  public var jsonValue: JSONValue? { Rule.json(wrappedValue) }
}
