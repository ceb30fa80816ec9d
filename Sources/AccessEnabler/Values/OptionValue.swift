internal import RegentJSON

/// The value of an option: a string, number or boolean.
@nonexhaustive
public enum OptionValue: Hashable, Sendable {
  case text(String)
  /// The value is an integer.
  case number(Int64)
  /// The value is a floating-point number.
  case decimal(Double)
  case flag(Bool)

  /// The value as text, as a query parameter contains it.
  var text: String {
    switch self {
    case .text(let text): text
    case .number(let number): String(number)
    case .decimal(let number): String(number)
    case .flag(let flag): flag ? "true" : "false"
    }
  }

  var json: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): .integer(number)
    case .decimal(let number): .double(number)
    case .flag(let flag): .bool(flag)
    }
  }

  /// Converts a JSON value; nil unless it is a string, number or boolean.
  init?(_ value: JSONValue) {
    if let text = value.string {
      self = .text(text)
    } else if let number = value.int64 {
      self = .number(number)
    } else if let flag = value.bool {
      self = .flag(flag)
    } else if let number = value.double {
      self = .decimal(number)
    } else {
      return nil
    }
  }
}

extension OptionValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  public init(stringLiteral text: String) { self = .text(text) }
  public init(integerLiteral number: Int64) { self = .number(number) }
  public init(floatLiteral number: Double) { self = .decimal(number) }
  public init(booleanLiteral flag: Bool) { self = .flag(flag) }
}
