public import RegentJSON
public import RegentPairing

// Types for members of documents that JSON itself does not have.

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

/// An enumeration whose values are texts in documents.
public protocol AdminWord: JSONScalar, RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

extension AdminWord {
  public init(member name: String, of object: JSONObject) throws(JSONShapeError) {
    self = try object.word(name)
  }

  public var jsonValue: JSONValue? { .string(rawValue) }

  public init(from decoder: any Decoder) throws { try self.init(at: decoder) }

  public func encode(to encoder: any Encoder) throws { try write(to: encoder) }
}

/// A rule that reads and writes a member of a document when the member's type does not suffice, for example because it
/// has a default or a range.
public protocol MemberRule: Sendable {
  associatedtype Value: Hashable & Sendable

  /// Reads the member; returns a default when the member is optional and missing.
  static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> Value

  /// The JSON to write for this value; nil leaves the member out.
  static func json(_ value: Value) -> JSONValue?
}

/// A member of a document that is read and written by a ``MemberRule``.
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
