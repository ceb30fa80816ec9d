import RegentCryptography
internal import RegentEncodings
import RegentSQL

/// A signed column: its name and what it holds.
struct Column: Sendable {
  enum Kind { case text, number, bytes }

  let name: String
  let kind: Kind
  /// Whether its values are longer than every database takes into an index.
  var isLong = false

  static func text(_ name: String) -> Column { Column(name: name, kind: .text) }
  static func longText(_ name: String) -> Column { Column(name: name, kind: .text, isLong: true) }
  static func number(_ name: String) -> Column { Column(name: name, kind: .number) }
  static func bytes(_ name: String) -> Column { Column(name: name, kind: .bytes) }

  /// The value as it is in the file, whatever it is worth.
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
  /// Adds a value of a column; each kind of value is framed differently.
  mutating func append(_ value: SQLValue) {
    switch value {
    case .null: append(nil as [UInt8]?)
    case .integer(let number): append(number)
    case .text(let text): append(text)
    case .blob(let bytes): append(bytes)
    // No column holds one; framed all the same, so that no value is left out of a signature.
    case .real(let number): append("real \(number.bitPattern)")
    }
  }
}

extension SQLValue {
  /// The value as it names a row in the audit log: only ids and hashes are part of a primary key.
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
