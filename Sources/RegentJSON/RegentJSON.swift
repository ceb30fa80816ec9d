// RegentJSON: a strict reader and a writer for JSON values (RFC 8259). Owns the grammar, its limits and the value
// type; knows nothing of any document. The wire documents are in RegentPairingWire, the admin documents in
// Administration.
//
// Strings are compared byte for byte here. Swift's own `==` compares by canonical equivalence: it calls U+212A
// (KELVIN SIGN) and the letter K equal, and two spellings of é. A protocol that signs, stores or looks up bytes
// must not.

/// One JSON value.
///
/// Numbers keep what the text said: a number without fraction and exponent is exact when it fits in 64 bits
/// (``integer(_:)``, or ``unsigned(_:)`` above `Int64.max`); every other number is the nearest `Double`, which
/// writes back as the shortest text that reads the same. `1.0` stays a double and `-0` keeps its sign. Integers
/// beyond 64 bits are the nearest `Double` too: that is what the JavaScript that wrote them held.
public enum JSONValue: Sendable {
  /// The literal `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number written without fraction or exponent that fits `Int64`.
  case integer(Int64)
  /// A number written without fraction or exponent above `Int64.max` that fits `UInt64`; made by
  /// ``init(_:)-(UInt64)``.
  case unsigned(UInt64)
  /// Any other number; never infinite or NaN when it was read.
  case double(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, members in the order they were written.
  case object(JSONObject)

  /// An unsigned number, in the one form that reading its text would give.
  public init(_ number: UInt64) {
    self = Int64(exactly: number).map(JSONValue.integer) ?? .unsigned(number)
  }
}

/// Same value: strings byte for byte, objects in any order.
extension JSONValue: Equatable {
  /// True when both are the same value; an integer never equals a double.
  public static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.unsigned(let one), .unsigned(let other)): one == other
    case (.double(let one), .double(let other)): one == other
    case (.string(let one), .string(let other)): sameBytes(one, other)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }
}

/// Equal as bytes, not as Unicode text.
func sameBytes(_ one: String, _ other: String) -> Bool {
  let one = one.utf8.span
  let other = other.utf8.span
  guard one.count == other.count else { return false }
  for place in one.indices where one[place] != other[place] { return false }
  return true
}
