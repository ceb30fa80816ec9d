public import RegentJSON
import RegentPairing

/// A document that travels over the admin socket: read and written by the same type, so that both sides agree.
///
/// One that is `Codable` names each member once, where it is stored; the others say more than their members do.
public protocol AdminDocument: Sendable {
  /// Reads the members; what may be left out has its usual value then, and members that nobody knows are ignored.
  init(_ object: JSONObject) throws(JSONShapeError)

  /// The document as it is sent; what is not there is left out.
  var object: JSONObject { get }
}

extension AdminDocument {
  /// The document as a value, for lists and printing.
  public var json: JSONValue { .object(object) }

  /// A document from a value that must be an object.
  public init(value: JSONValue, named name: String) throws(JSONShapeError) {
    guard let object = value.object else {
      throw JSONShapeError(name: name, expected: "an object")
    }
    try self.init(object)
  }
}

extension AdminDocument where Self: Codable {
  public init(_ object: JSONObject) throws(JSONShapeError) { self = try object.decoded() }

  public var object: JSONObject { JSONObject(encoding: self) }
}

extension JSONObject {
  /// Documents in an array that may be missing.
  func documents<Document: AdminDocument>(_ name: String) throws(JSONShapeError) -> [Document] {
    try (optionalArray(name) ?? []).map { value throws(JSONShapeError) in try Document(value: value, named: name) }
  }

  /// An identifier of a kind, by the kind's own rule.
  func identifier<Kind>(_ name: String) throws(JSONShapeError) -> Identifier<Kind> {
    guard let identifier = try optionalIdentifier(name) as Identifier<Kind>? else {
      throw JSONShapeError(name: name, expected: "a name", isMissing: true)
    }
    return identifier
  }

  /// An identifier that may be missing.
  func optionalIdentifier<Kind>(_ name: String) throws(JSONShapeError) -> Identifier<Kind>? {
    guard let text = try optionalString(name) else { return nil }
    guard let identifier = Identifier<Kind>(text) else {
      throw JSONShapeError(name: name, expected: Kind.rule)
    }
    return identifier
  }

  /// A length of time of at least one millisecond that may be missing.
  func optionalSpan(_ name: String) throws(JSONShapeError) -> Duration? {
    guard let milliseconds = try optionalInt64(name) else { return nil }
    guard (1...Self.longestSpan).contains(milliseconds) else {
      throw JSONShapeError(name: name, expected: "milliseconds, from 1 to ten years")
    }
    return .milliseconds(milliseconds)
  }

  /// A whole number in a range that may be missing.
  func optionalInteger(_ name: String, _ range: ClosedRange<Int>) throws(JSONShapeError) -> Int? {
    guard let number = try optionalInt64(name) else { return nil }
    guard let number = Int(exactly: number), range.contains(number) else {
      throw JSONShapeError(
        name: name, expected: "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// One of a type's words that may be missing.
  func optionalWord<Word: RawRepresentable & CaseIterable>(
    _ name: String, _: Word.Type = Word.self
  ) throws(JSONShapeError) -> Word? where Word.RawValue == String {
    guard let text = try optionalString(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw JSONShapeError(name: name, expected: "one of \(words)")
    }
    return word
  }

  /// One of a type's words.
  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Word.Type = Word.self
  ) throws(JSONShapeError) -> Word where Word.RawValue == String {
    guard let word = try optionalWord(name, type) else {
      throw JSONShapeError(name: name, expected: "a word", isMissing: true)
    }
    return word
  }

  /// Ten years in milliseconds: nothing here is meant to last longer, and sums with it stay far from overflowing.
  private static let longestSpan: Int64 = 3_652 * 86_400_000
}

extension IdentifierKind {
  /// What the kind allows, for messages.
  fileprivate static var rule: String {
    Self.allows(" ")
      ? "1 to \(longest) bytes of text without control characters"
      : "1 to \(longest) letters, digits, dots, dashes or underscores, without spaces"
  }
}

// MARK: - Writing

extension JSONObject {
  /// Sets a text, or nothing when there is none.
  mutating func set(_ name: String, _ text: String?) {
    self[name] = text.map(JSONValue.string)
  }

  /// Sets an identifier, or nothing when there is none.
  mutating func set<Kind>(_ name: String, _ identifier: Identifier<Kind>?) {
    set(name, identifier?.text)
  }

  /// Sets a length of time, or nothing when there is none.
  mutating func set(_ name: String, _ span: Duration?) {
    self[name] = span.map { .integer($0.wholeMilliseconds) }
  }

  /// Sets a number, or nothing when there is none.
  mutating func set(_ name: String, _ number: Int?) {
    self[name] = number.map { .integer(Int64($0)) }
  }

  /// Sets a truth value.
  mutating func set(_ name: String, _ bool: Bool) {
    self[name] = .bool(bool)
  }

  /// Sets a list of texts.
  mutating func set(_ name: String, _ texts: [String]) {
    self[name] = .array(texts.map(JSONValue.string))
  }

  /// Sets a list of documents.
  mutating func set(_ name: String, _ documents: [some AdminDocument]) {
    self[name] = .array(documents.map(\.json))
  }
}
