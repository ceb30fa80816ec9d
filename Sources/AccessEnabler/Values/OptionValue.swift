internal import RegentJSON

/// The value of an option as an app gives it: a text, a number or a truth value.
@nonexhaustive
public enum OptionValue: Hashable, Sendable {
  /// A text.
  case text(String)
  /// A whole number.
  case number(Int64)
  /// Any other number.
  case decimal(Double)
  /// A truth value.
  case flag(Bool)

  /// As it stands in a query.
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

  /// What JSON has besides is no value of an option.
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
