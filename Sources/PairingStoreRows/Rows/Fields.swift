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

extension optionalBytes() throws(UnreadableRow) -> [UInt8]? {
    switch try take() {
    case .blob(let bytes): return bytes
    case .null: return nil
    default: throw UnreadableRow()
    }
  }

  mutating func text() throws(UnreadableRow) -> String { try present(optionalText()) }
  mutating func number() throws(UnreadableRow) -> Int64 { try present(optionalNumber()) }
  mutating func bytes() throws(UnreadableRow) -> [UInt8] { try present(optionalBytes()) }

  mutating func flag() throws(UnreadableRow) -> Bool {
    switch try number() {
    case 0: return false
    case 1: return true
    default: throw UnreadableRow()
    }
  }

  mutating func name<Kind>() throws(UnreadableRow) -> Identifier<Kind> {
    try present(Identifier<Kind>(text()))
  }

  mutating func optionalName<Kind>() throws(UnreadableRow) -> Identifier<Kind>? {
    guard let text = try optionalText() else { return nil }
    return try present(Identifier<Kind>(text))
  }

  mutating func instant() throws(UnreadableRow) -> Instant {
    Instant(milliseconds: try number())
  }

  mutating func optionalInstant() throws(UnreadableRow) -> Instant? {
    try optionalNumber().map { Instant(milliseconds: $0) }
  }

  mutating func hash<Kind>() throws(UnreadableRow) -> KeyedHash<Kind> {
    try present(KeyedHash<Kind>(bytes()))
  }

  mutating func optionalHash<Kind>() throws(UnreadableRow) -> KeyedHash<Kind>? {
    guard let bytes = try optionalBytes() else { return nil }
    return try present(KeyedHash<Kind>(bytes))
  }

  mutating func choice<Value: RawRepresentable<String>>() throws(UnreadableRow) -> Value {
    try present(Value(rawValue: text()))
  }

  mutating func viewer() throws(UnreadableRow) -> Viewer {
    Viewer(provider: try name(), account: try optionalName())
  }

  mutating func json() throws(UnreadableRow) -> JSONValue { try parsedJSON(text()) }
}

func present<Value>(_ value: Value?) throws(UnreadableRow) -> Value {
  guard let value else { throw UnreadableRow() }
  return value
}

/// Parses JSON that this service has written itself.
///
/// The limits therefore allow everything that it can write, NUL characters included.
func parsedJSON(_ text: String) throws(UnreadableRow) -> JSONValue {
  let limits = JSONLimits(depth: 8, bytes: 1 << 20, allowsNUL: true, allowsManyMarks: true)
  do throws(JSONError) {
    return try JSONValue(reading: text, limits: limits)
  } catch {
    throw UnreadableRow()
  }
}

extension JSONValue {
  var column: SQLValue {
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
