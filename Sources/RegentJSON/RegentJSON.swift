// RegentJSON: a strict reader and a writer for JSON values (RFC 8259). It owns the grammar, its limits and the value
// type, and knows no document: RegentPairingWire has the documents of the protocol, Administration those of the admin
// interface.
//
// Strings are compared byte by byte here. Swift's own `==` compares by canonical equivalence: it treats U+212A (KELVIN
// SIGN) as equal to the letter K, and two spellings of é as equal. A protocol that signs, stores or looks up bytes must
// not do that.

internal import RegentEncodings

/// One JSON value.
///
/// Numbers keep what the text says. A number without fraction and exponent is exact if it fits 64 bits:
/// ``integer(_:)``, or ``unsigned(_:)`` above `Int64.max`. Every other number is the nearest `Double`, which is written
/// as the shortest text that reads back the same. `1.0` stays a double, and `-0` keeps its sign. Integers beyond 64
/// bits also become the nearest `Double`, as in JavaScript.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A number without fraction and exponent that fits `Int64`.
  case integer(Int64)
  /// A number without fraction and exponent that is above `Int64.max` and fits `UInt64`; made by ``init(_:)-(UInt64)``.
  case unsigned(UInt64)
  /// Any other number.
  ///
  /// The reader never makes infinity or NaN.
  case double(Double)
  case string(String)
  case array([JSONValue])
  /// An object with the members in the order of the text.
  case object(JSONObject)

  /// Makes the same case of JSONValue that reading the number's text would give.
  public init(_ number: UInt64) {
    self = Int64(exactly: number).map(JSONValue.integer) ?? .unsigned(number)
  }
}

/// Values are equal when strings have the same bytes and objects the same members in any order.
extension JSONValue: Equatable {
  /// Whether both are the same JSON value.
  ///
  /// An integer never equals a double.
  public static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.unsigned(let one), .unsigned(let other)): one == other
    case (.double(let one), .double(let other)): one == other
    case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }
}
