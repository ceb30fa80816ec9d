public import RegentJSON
import RegentPairing

/// A JSON document of the admin interface.
///
/// The same type reads and writes the document, so that client and service agree. A type that is also `Codable` needs
/// no further code. The others check or convert their members.
public protocol AdminDocument: Sendable {
  /// Reads the document's members.
  ///
  /// An optional member that is missing gets its default. Unknown members are ignored.
  init(_ object: JSONObject) throws(JSONShapeError)

  /// The document as a JSON object, without members that have no value.
  var object: JSONObject { get }
}

extension AdminDocument {
  public var json: JSONValue { .object(object) }

  /// Reads a document from a value, which must be an object.
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
  /// Reads an array of documents; empty when the member is missing.
  func documents<Document: AdminDocument>(_ name: String) throws(JSONShapeError) -> [Document] {
    try (optionalArray(name) ?? []).map { value throws(JSONShapeError) in try Document(value: value, named: name) }
  }

  /// Reads an optional identifier and checks it against the rule of its kind; nil when it is missing.
  func identifier<Kind>(_ name: String) throws(JSONShapeError) -> Identifier<Kind> {
    guard let identifier = try optionalIdentifier(name) as Identifier<Kind>? else {
      throw JSONShapeError(name: name, expected: "a name", isMissing: true)
    }
    return identifier
  }

  /// Reads an optional identifier; nil when the member is missing.
  func optionalIdentifier<Kind>(_ name: String) throws(JSONShapeError) -> Identifier<Kind>? {
    guard let text = try optionalString(name) else { return nil }
    guard let identifier = Identifier<Kind>(text) else {
      throw JSONShapeError(name: name, expected: Kind.rule)
    }
    return identifier
  }

  /// Reads an optional duration of at least one millisecond; nil when the member is missing.
  func optionalSpan(_ name: String) throws(JSONShapeError) -> Duration? {
    guard let milliseconds = try optionalInt64(name) else { return nil }
    guard (1...Self.longestSpan).contains(milliseconds) else {
      throw JSONShapeError(name: name, expected: "milliseconds, from 1 to ten years")
    }
    return .milliseconds(milliseconds)
  }

  /// Reads an optional whole number, which must be in `range`; nil when the member is missing.
  func optionalInteger(_ name: String, _ range: ClosedRange<Int>) throws(JSONShapeError) -> Int? {
    guard let number = try optionalInt64(name) else { return nil }
    guard let number = Int(exactly: number), range.contains(number) else {
      throw JSONShapeError(
        name: name, expected: "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads an optional text, which must be one of the words of the enumeration `Word`.
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

  /// Reads a text, which must be one of the words of the enumeration `Word`.
  func word<Word: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Word.Type = Word.self
  ) throws(JSONShapeError) -> Word where Word.RawValue == String {
    guard let word = try optionalWord(name, type) else {
      throw JSONShapeError(name: name, expected: "a word", isMissing: true)
    }
    return word
  }

  /// The longest duration that a setting may have: ten years in milliseconds.
  ///
  /// No setting needs more, and sums of such values cannot overflow.
  private static let longestSpan: Int64 = 3_652 * 86_400_000
}

extension IdentifierKind {
  /// The rule for the characters and length of this kind of identifier, for error messages.
  fileprivate static var rule: String {
    Self.allows(" ")
      ? "1 to \(longest) bytes of text without control characters"
      : "1 to \(longest) letters, digits, dots, dashes or underscores, without spaces"
  }
}

// MARK: - Writing documents

extension JSONObject {
  mutating func set(_ name: String, _ text: String?) {
    self[name] = text.map(JSONValue.string)
  }

  mutating func set<Kind>(_ name: String, _ identifier: Identifier<Kind>?) {
    set(name, identifier?.text)
  }

  mutating func set(_ name: String, _ span: Duration?) {
    self[name] = span.map { .integer($0.wholeMilliseconds) }
  }

  mutating func set(_ name: String, _ number: Int?) {
    self[name] = number.map { .integer(Int64($0)) }
  }

  mutating func set(_ name: String, _ bool: Bool) {
    self[name] = .bool(bool)
  }

  mutating func set(_ name: String, _ texts: [String]) {
    self[name] = .array(texts.map(JSONValue.string))
  }

  mutating func set(_ name: String, _ documents: [some AdminDocument]) {
    self[name] = .array(documents.map(\.json))
  }
}
