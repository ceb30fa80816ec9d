// Reading a value without a switch, and writing values as literals.

extension JSONValue {
  /// The member `name` if this is an object; nil otherwise.
  public subscript(name: String) -> JSONValue? {
    object?[name]
  }

  /// The element at `position` if this is an array that is long enough; nil otherwise.
  public subscript(position: Int) -> JSONValue? {
    guard let array, array.indices.contains(position) else { return nil }
    return array[position]
  }

  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The string, if this value is one; nil otherwise.
  public var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The Boolean, if this value is one; nil otherwise.
  public var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The number if it is exactly an `Int64`, also when it is written as `100.0` or `1e2`; nil otherwise.
  public var int64: Int64? {
    switch self {
    case .integer(let number): number
    case .unsigned(let number): Int64(exactly: number)
    case .double(let number): exactly(number, Int64.self)
    default: nil
    }
  }

  /// The number if it is exactly a `UInt64`; nil otherwise.
  public var uint64: UInt64? {
    switch self {
    case .integer(let number): UInt64(exactly: number)
    case .unsigned(let number): number
    case .double(let number): exactly(number, UInt64.self)
    default: nil
    }
  }

  /// The number as a `Double`, rounded if it is an integer beyond 2⁵³; nil if this value is no number.
  public var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  /// The elements, if this value is an array; nil otherwise.
  public var array: [JSONValue]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The members, if this value is an object; nil otherwise.
  public var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringInterpolation,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes `null`, written as `nil`.
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Makes an object with the members in the order of the literal; if a name occurs more than once, the last value
  /// counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { JSONObject.Member($0.0, $0.1) }))
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Makes an object with the members in the order of the literal; if a name occurs more than once, the last value
  /// counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements.map { Member($0.0, $0.1) })
  }
}

extension JSONValue: CustomStringConvertible {
  public var description: String { String(decoding: bytes(), as: UTF8.self) }
}

extension JSONObject: CustomStringConvertible {
  public var description: String { JSONValue.object(self).description }
}

/// Converts a double that is a whole number.
///
/// The standard library's `init(exactly:)` would need libm, which nothing else in this target links.
private func exactly<Number: FixedWidthInteger>(_ double: Double, _: Number.Type) -> Number? {
  // As a Double, the largest integer rounds up to a power of two, which is the first value that does not fit.
  guard double >= Double(Number.min), double < Double(Number.max) else { return nil }
  let number = Number(double)
  return Double(number) == double ? number : nil
}
