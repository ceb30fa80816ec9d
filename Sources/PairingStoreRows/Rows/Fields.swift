import RegentJSON
import RegentSQL

/// Thrown for a row whose signature is valid but whose content this program version cannot decode.
struct UnreadableRow: Error {}

/// Reads the values of one row from left to right.
struct Fields {
  private let values: [SQLValue]
  private let vault: Vault
  private let seals: [Seal]
  private var place = 0

  init(_ values: [SQLValue], _ vault: Vault, _ seals: [Seal]) {
    (self.values, self.vault, self.seals) = (values, vault, seals)
  }

  mutating func take() throws(UnreadableRow) -> SQLValue {
    guard place < values.count else { throw UnreadableRow() }
    defer { place += 1 }
    return values[place]
  }

  /// Decrypts the next value.
  mutating func opened() throws(UnreadableRow) -> [UInt8] {
    let seal = try present(seals.first { $0.place == place })
    return try vault.open([UInt8](column: take()), seal.label, of: String(column: values[0]))
  }

  /// Reads all remaining values of the row.
  mutating func all() throws(UnreadableRow) -> [SQLValue] {
    defer { place = values.count }
    return Array(values[place...])
  }
}

/// An encrypted column of a table.
struct Seal: Sendable {
  /// The column's position.
  let place: Int
  /// What the encrypted values are bound to, together with the row's id: `TABLE.COLUMN`.
  let label: String
}

func present<Value>(_ value: Value?) throws(UnreadableRow) -> Value {
  guard let value else { throw UnreadableRow() }
  return value
}

extension JSONValue {
  static func list(_ texts: some Sequence<String>) -> JSONValue {
    .array(texts.map { .string($0) })
  }

  static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

  /// Encodes a duration in full precision.
  ///
  /// Compare-and-swap operations compare decoded records, so encoding must not round.
  static func span(_ duration: Duration) -> JSONValue {
    let (seconds, attoseconds) = duration.components
    return .array([.integer(seconds), .integer(attoseconds)])
  }

  func texts() throws(UnreadableRow) -> [String] {
    var texts: [String] = []
    for element in try present(array) { texts.append(try present(element.string)) }
    return texts
  }

  func text(_ name: String) throws(UnreadableRow) -> String { try present(self[name]?.string) }

  func flag(_ name: String) throws(UnreadableRow) -> Bool { try present(self[name]?.bool) }

  func optionalText(_ name: String) throws(UnreadableRow) -> String? {
    guard let value = self[name], !value.isNull else { return nil }
    return try present(value.string)
  }

  func optionalNumber(_ name: String) throws(UnreadableRow) -> Int? {
    guard let value = self[name], !value.isNull else { return nil }
    return try present(value.int64.flatMap { Int(exactly: $0) })
  }

  func optionalSpan(_ name: String) throws(UnreadableRow) -> Duration? {
    guard let value = self[name], !value.isNull else { return nil }
    return Duration(
      secondsComponent: try present(value[0]?.int64),
      attosecondsComponent: try present(value[1]?.int64))
  }

  func span(_ name: String) throws(UnreadableRow) -> Duration { try present(optionalSpan(name)) }

  func list(_ name: String) throws(UnreadableRow) -> [String] {
    try present(self[name]).texts()
  }
}
