import RegentCryptography
internal import RegentEncodings
import RegentSQL

struct Column: Sendable {
  enum Kind { case text, number, bytes }

  let name: String
  let kind: Kind
  /// Whether the column's values can be longer than the size limit of PostgreSQL's index entries.
  var isLong = false
  var isNullable = false
  var isSealed = false

  static func text(_ name: String) -> Column { Column(name: name, kind: .text) }
  static func number(_ name: String) -> Column { Column(name: name, kind: .number) }
  static func bytes(_ name: String) -> Column { Column(name: name, kind: .bytes) }

  /// Reads the column's stored value without checking it.
  func value(of row: borrowing Row, at place: Int) throws(DatabaseError) -> SQLValue {
    if try row.isNull(place) { return .null }
    return switch kind {
    case .text: .text(try row.text(place))
    case .number: .integer(try row.integer(place))
    case .bytes: .blob(try row.blob(place))
    }
  }
}

extension FramedFields {
  /// Adds a column's value to the bytes that are signed.
  ///
  /// Each type is encoded differently, so that values of two types never have the same encoding.
  mutating func append(_ value: SQLValue) {
    switch value {
    case .null: append(nil as [UInt8]?)
    case .integer(let number): append(number)
    case .text(let text): append(text)
    case .blob(let bytes): append(bytes)
    // No column holds floating-point numbers. They are encoded anyway, so that no value is ever left out of a
    // signature.
    case .real(let number): append("real \(number.bitPattern)")
    }
  }
}

extension SQLValue {
  /// The column's value as text for the audit log.
  ///
  /// Only ids and hashes are part of a primary key, so no secret is shown.
  var shown: String {
    switch self {
    case .null: "-"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .text(let text): text
    case .blob(let bytes): Hex.encode(bytes)
    }
  }
}
