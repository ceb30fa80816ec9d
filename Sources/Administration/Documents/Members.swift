public import RegentJSON
public import RegentPairing

// The kinds of members that documents have besides those that JSON has itself.

extension Identifier: JSONScalar {
  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    self = try object.identifier(name)
  }

  public var jsonValue: JSONValue? { .string(text) }
}

/// Times are epoch milliseconds.
extension Moment: Codable, JSONScalar where Clock == WallClock {
  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    self.init(milliseconds: try object.int64(name))
  }

  public var jsonValue: JSONValue? { .integer(milliseconds) }
}

/// One of a few words.
public protocol AdminWord: JSONScalar, RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

extension AdminWord {
  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    self = try object.word(name)
  }

  public var jsonValue: JSONValue? { .string(rawValue) }

  public init(from decoder: any Decoder) throws { try self.init(at: decoder) }

  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
}

/// A rule for members whose type alone does not say what may stand in them.
public protocol MemberRule: Sendable {
  associatedtype Value: Hashable & Sendable

  /// Reads the member, or its usual value when it may be missing.
  static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Value

  /// What is written; nil leaves the member out.
  static func json(_ value: Value) -> JSONValue?
}

/// A member with a rule.
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
