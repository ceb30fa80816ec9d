import Administration
import CommandKit
import RegentJSON
import RegentPairing

// Types of option values, converted to the JSON values of the admin protocol. An empty value removes the setting.

/// An identifier of the kind `Kind`.
func identifier<Kind: IdentifierKind>(
  _ placeholder: String, _: Kind.Type = Kind.self
) -> ValueKind<Identifier<Kind>> {
  ValueKind(placeholder, show: { $0.text }) { text throws(ValueProblem) in
    // The id becomes a part of a URL path, in which "." and ".." would be resolved as steps.
    guard let identifier = Identifier<Kind>(text), text != ".", text != ".." else {
      throw ValueProblem(
        "is not a valid name",
        hint: Kind.allows(" ")
          ? "use 1 to \(Kind.longest) bytes, without invisible or control characters"
          : "use 1 to \(Kind.longest) letters, digits, dots, dashes or underscores, without spaces")
    }
    return identifier
  }
}

extension ValueKind where Value == JSONValue {
  /// The type of an option that takes any text.
  ///
  /// An empty value removes the setting.
  static func member(_ placeholder: String) -> ValueKind {
    ValueKind(placeholder, show: { $0.string ?? "" }) { text throws(ValueProblem) in
      text.isEmpty ? .null : .string(text)
    }
  }

  /// The type of an option whose text is valid for a member of a record, alone or as an element of a list.
  ///
  /// An empty value removes the setting, except when the record is being created.
  static func member<Record: OperatorRecord>(
    _ placeholder: String, of _: Record.Type, _ member: Record.Member, isList: Bool = false,
    mayBeEmpty: Bool = true, _ key: JSONObject
  ) -> ValueKind {
    ValueKind(placeholder, show: { $0.string ?? "" }) { text throws(ValueProblem) in
      guard !text.isEmpty else {
        guard mayBeEmpty else { throw ValueProblem("is empty") }
        return .null
      }
      var object = key
      object[member.rawValue] = isList ? .array([.string(text)]) : .string(text)
      do throws(JSONShapeError) {
        _ = try Record(object)
      } catch {
        throw ValueProblem("is not a valid value", hint: "use \(error.expected)")
      }
      return .string(text)
    }
  }

  /// The type of an option that takes `on` or `off`.
  static var switched: ValueKind { converted(.onOff, JSONValue.bool) }

  static func word<Word: RawRepresentable & CaseIterable & Equatable & Sendable>(
    _: Word.Type
  ) -> ValueKind where Word.RawValue == String {
    converted(ValueKind<Word>.cases) { .string($0.rawValue) }
  }

  /// The type of an option that takes a duration from one second to ten years.
  static var span: ValueKind {
    converted(.duration(.seconds(1)...(.seconds(3_650 * 86_400)))) {
      .integer($0.wholeMilliseconds)
    }
  }

  static func number(_ range: ClosedRange<Int>) -> ValueKind {
    converted(.integer(range)) { .integer(Int64($0)) }
  }

  /// The type of an option that takes a rating as `SCHEME=VALUE`.
  static var rating: ValueKind {
    ValueKind("SCHEME=VALUE", show: { _ in "" }) { text throws(ValueProblem) in
      guard !text.isEmpty else { return .null }
      let parts = text.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else {
        throw ValueProblem("is not a rating", hint: "use a scheme and a value, such as MPAA=PG-13 or VCHIP=TV-PG")
      }
      return ["scheme": .string(String(parts[0])), "value": .string(String(parts[1]))]
    }
  }

  private static func converted<Other: Sendable>(
    _ kind: ValueKind<Other>, _ convert: @escaping @Sendable (Other) -> JSONValue
  ) -> ValueKind {
    ValueKind(kind.placeholder, completion: kind.completion, show: { _ in "" }) {
      text throws(ValueProblem) in convert(try kind.value(of: text))
    }
  }
}

extension Patch {
  /// Sets a list member if any value was given.
  ///
  /// A single empty value empties the list.
  mutating func set(_ member: Record.Member, list values: [JSONValue]) {
    guard !values.isEmpty else { return }
    set(member, .array(values.filter { !$0.isNull }))
  }
}

extension ValueKind where Value == String {
  /// The type of an option that takes the path of a file, or an empty value.
  static var fileOrNone: ValueKind {
    ValueKind("PEMFILE", completion: .files, show: { $0 }) { text throws(ValueProblem) in text }
  }
}

extension ValueKind where Value == JSONValue {
  /// The type of an option that takes one of the type's words, or an empty value.
  static func wordOrNone<Word: RawRepresentable & CaseIterable & Equatable & Sendable>(
    _: Word.Type
  ) -> ValueKind where Word.RawValue == String {
    let words = ValueKind<Word>.cases
    return ValueKind("KEY", completion: words.completion, show: { _ in "" }) {
      text throws(ValueProblem) in
      text.isEmpty ? .null : .string(try words.value(of: text).rawValue)
    }
  }
}
