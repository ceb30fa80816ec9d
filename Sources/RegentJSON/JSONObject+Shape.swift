// Reads members of an expected type; errors tell the caller which member was wrong and what it had to be.

/// The error when a text is valid JSON, but a member is missing or has the wrong type.
public struct JSONShapeError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The name of the member that is wrong.
  public let name: String
  /// The expected type, for example "a string".
  public let expected: String
  /// Whether the member is missing.
  public let isMissing: Bool

  /// Makes an error about one member.
  ///
  /// Callers also use it for rules of their own.
  public init(name: String, expected: String, isMissing: Bool = false) {
    self.name = name
    self.expected = expected
    self.isMissing = isMissing
  }

  /// A sentence with the member and the expected type; it never contains the value.
  public var description: String {
    isMissing ? "member \"\(name)\" is missing" : "member \"\(name)\" must be \(expected)"
  }
}

extension JSONObject {
  /// The string `name`; throws if the member is missing or has another type.
  public func string(_ name: String) throws(JSONShapeError) -> String {
    try required(name, "a string") { $0.string }
  }

  /// The string `name`; nil if the member is missing or null.
  public func optionalString(_ name: String) throws(JSONShapeError) -> String? {
    try optional(name, "a string") { $0.string }
  }

  /// The whole number `name`; throws if the member is missing or has another type.
  public func int64(_ name: String) throws(JSONShapeError) -> Int64 {
    try required(name, "a whole number") { $0.int64 }
  }

  /// The whole number `name`; nil if the member is missing or null.
  public func optionalInt64(_ name: String) throws(JSONShapeError) -> Int64? {
    try optional(name, "a whole number") { $0.int64 }
  }

  /// The Boolean `name`; throws if the member is missing or has another type.
  public func bool(_ name: String) throws(JSONShapeError) -> Bool {
    try required(name, "true or false") { $0.bool }
  }

  /// The Boolean `name`; nil if the member is missing or null.
  public func optionalBool(_ name: String) throws(JSONShapeError) -> Bool? {
    try optional(name, "true or false") { $0.bool }
  }

  /// The array `name`; throws if the member is missing or has another type.
  public func array(_ name: String) throws(JSONShapeError) -> [JSONValue] {
    try required(name, "an array") { $0.array }
  }

  /// The array `name`; nil if the member is missing or null.
  public func optionalArray(_ name: String) throws(JSONShapeError) -> [JSONValue]? {
    try optional(name, "an array") { $0.array }
  }

  /// The array of strings `name`; throws if the member is missing or has another type.
  public func strings(_ name: String) throws(JSONShapeError) -> [String] {
    try required(name, "an array of strings", strings)
  }

  /// The array of strings `name`; nil if the member is missing or null.
  public func optionalStrings(_ name: String) throws(JSONShapeError) -> [String]? {
    try optional(name, "an array of strings", strings)
  }

  /// The object `name`; throws if the member is missing or has another type.
  public func object(_ name: String) throws(JSONShapeError) -> JSONObject {
    try required(name, "an object") { $0.object }
  }

  /// The object `name`; nil if the member is missing or null.
  public func optionalObject(_ name: String) throws(JSONShapeError) -> JSONObject? {
    try optional(name, "an object") { $0.object }
  }

  private func required<Value>(
    _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
  ) throws(JSONShapeError) -> Value {
    guard let value = self[name] else {
      throw JSONShapeError(name: name, expected: expected, isMissing: true)
    }
    guard let read = read(value) else {
      throw JSONShapeError(name: name, expected: expected, isMissing: false)
    }
    return read
  }

  private func optional<Value>(
    _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
  ) throws(JSONShapeError) -> Value? {
    guard let value = self[name], !value.isNull else { return nil }
    return try required(name, expected, read)
  }

  private func strings(_ value: JSONValue) -> [String]? {
    guard let array = value.array else { return nil }
    let strings = array.compactMap(\.string)
    return strings.count == array.count ? strings : nil
  }
}
