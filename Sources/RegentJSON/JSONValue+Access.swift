// Looking into a value without a switch, and writing values as literals.

extension JSONValue {
  /// The member `name` of an object; nil for everything else.
  public subscript(name: String) -> JSONValue? {
    object?[name]
  }

  /// The element at `position` of an array; nil outside it and for everything else.
  public subscript(position: Int) -> JSONValue? {
    guard let array, array.indices.contains(position) else { return nil }
    return array[position]
  }

  /// True for `null`.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The string, nil for everything else.
  public var string: String? {
    if case .string(let string) = self { string } else { nil }
  }

  /// The truth value, nil for everything else.
  public var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  /// The number when it is exactly an `Int64`, however it was written (`100`, `100.0`, `1e2`).
  public var int64: Int64? {
    switch self {
    case .integer(let number): number
    case .unsigned(let number): Int64(exactly: number)
    case .double(let number): exactly(number, Int64.self)
    default: nil
    }
  }

  /// The number when it is exactly a `UInt64`.
  public var uint64: UInt64? {
    switch self {
    case .integer(let number): UInt64(exactly: number)
    case .unsigned(let number): number
    case .double(let number): exactly(number, UInt64.self)
    default: nil
    }
  }

  /// The number as a `Double`, rounded when it is an integer beyond 2⁵³.
  public var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  /// The elements, nil for everything else.
  public var array: [JSONValue]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The members, nil for everything else.
  public var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringInterpolation,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `null`, written `nil`.
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An exact number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number with a fraction.
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object, members in the order of the literal; of several with one name the last counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { JSONObject.Member($0.0, $0.1) }))
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// The members of the literal in order; of several with one name the last counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(elements.map { Member($0.0, $0.1) })
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON.
  public var description: String { String(decoding: bytes(), as: UTF8.self) }
}

extension JSONObject: CustomStringConvertible {
  /// The object as compact JSON.
  public var description: String { JSONValue.object(self).description }
}

/// The standard library's own conversion would need libm, which nothing else here does.
private func exactly<Number: FixedWidthInteger>(_ double: Double, _: Number.Type) -> Number? {
  // Number.max rounds up to a power of two, the first value that does not fit.
  guard double >= Double(Number.min), double < Double(Number.max) else { return nil }
  let number = Number(double)
  return Double(number) == double ? number : nil
}
