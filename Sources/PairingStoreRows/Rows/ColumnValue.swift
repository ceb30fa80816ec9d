import PairingStore
import RegentJSON
import RegentPairing
import RegentSQL

/// A value that one column of a row holds.
protocol ColumnValue: Sendable {
  static var kind: Column.Kind { get }
  /// Whether the column may be NULL.
  static var isNullable: Bool { get }

  /// Reads a stored value; throws if this program version cannot have written it.
  init(column: SQLValue) throws(UnreadableRow)

  var column: SQLValue { get }
}

extension ColumnValue {
  static var isNullable: Bool { false }
}

extension String: ColumnValue {
  static var kind: Column.Kind { .text }

  init(column: SQLValue) throws(UnreadableRow) {
    guard case .text(let text) = column else { throw UnreadableRow() }
    self = text
  }

  var column: SQLValue { .text(self) }
}

extension Int64: ColumnValue {
  static var kind: Column.Kind { .number }

  init(column: SQLValue) throws(UnreadableRow) {
    guard case .integer(let number) = column else { throw UnreadableRow() }
    self = number
  }

  var column: SQLValue { .integer(self) }
}

extension Array: ColumnValue where Element == UInt8 {
  static var kind: Column.Kind { .bytes }

  init(column: SQLValue) throws(UnreadableRow) {
    guard case .blob(let bytes) = column else { throw UnreadableRow() }
    self = bytes
  }

  var column: SQLValue { .blob(self) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  static var kind: Column.Kind { Wrapped.kind }
  static var isNullable: Bool { true }

  init(column: SQLValue) throws(UnreadableRow) {
    if case .null = column { self = nil } else { self = try Wrapped(column: column) }
  }

  var column: SQLValue { self?.column ?? .null }
}

extension Int: ColumnValue {
  static var kind: Column.Kind { .number }

  init(column: SQLValue) throws(UnreadableRow) { self = try present(Int(exactly: Int64(column: column))) }

  var column: SQLValue { .integer(Int64(self)) }
}

extension Bool: ColumnValue {
  static var kind: Column.Kind { .number }

  init(column: SQLValue) throws(UnreadableRow) {
    switch try Int64(column: column) {
    case 0: self = false
    case 1: self = true
    default: throw UnreadableRow()
    }
  }

  var column: SQLValue { .integer(self ? 1 : 0) }
}

extension Instant: ColumnValue {
  static var kind: Column.Kind { .number }

  init(column: SQLValue) throws(UnreadableRow) { self.init(milliseconds: try Int64(column: column)) }

  var column: SQLValue { .integer(milliseconds) }
}

extension Duration: ColumnValue {
  static var kind: Column.Kind { .number }

  init(column: SQLValue) throws(UnreadableRow) { self = .milliseconds(try Int64(column: column)) }

  var column: SQLValue { .integer(wholeMilliseconds) }
}

extension Identifier: ColumnValue {
  static var kind: Column.Kind { .text }

  init(column: SQLValue) throws(UnreadableRow) { self = try present(Identifier(String(column: column))) }

  var column: SQLValue { .text(text) }
}

extension KeyedHash: ColumnValue {
  static var kind: Column.Kind { .bytes }

  init(column: SQLValue) throws(UnreadableRow) { self = try present(KeyedHash([UInt8](column: column))) }

  var column: SQLValue { .blob(bytes) }
}

extension JSONValue: ColumnValue {
  static var kind: Column.Kind { .text }

  /// Parses JSON that this service has written itself.
  ///
  /// The limits therefore allow everything that it can write, NUL characters included.
  init(column: SQLValue) throws(UnreadableRow) {
    let limits = JSONLimits(depth: 8, bytes: 1 << 20, allowsNUL: true, allowsManyMarks: true)
    let text = try String(column: column)
    do throws(JSONError) {
      self = try JSONValue(reading: text, limits: limits)
    } catch {
      throw UnreadableRow()
    }
  }

  var column: SQLValue { .text(String(decoding: bytes(), as: UTF8.self)) }
}

/// A choice that is stored as its word.
extension ColumnValue where Self: RawRepresentable<String> {
  static var kind: Column.Kind { .text }

  init(column: SQLValue) throws(UnreadableRow) { self = try present(Self(rawValue: String(column: column))) }

  var column: SQLValue { .text(rawValue) }
}

extension AuditEntry.Outcome: ColumnValue {}
extension AuthenticationSource: ColumnValue {}
extension Degradation: ColumnValue {}
extension Denial.Reason: ColumnValue {}
extension KeyPair.Purpose: ColumnValue {}
extension KeyPair.State: ColumnValue {}
extension OAuthClientRecord.Origin: ColumnValue {}
extension PairingStatus: ColumnValue {}
extension SigningKeyRecord.Purpose: ColumnValue {}

/// A value that is stored encrypted.
protocol SealedValue: Sendable {
  init?(sealedBytes: [UInt8])

  var sealedBytes: [UInt8] { get }
}

extension StoredSecret: SealedValue {
  init?(sealedBytes: [UInt8]) { self.init(sealedBytes) }

  var sealedBytes: [UInt8] { bytes }
}

extension Identifier: SealedValue {
  init?(sealedBytes: [UInt8]) {
    guard let text = String(validating: sealedBytes, as: UTF8.self) else { return nil }
    self.init(text)
  }

  var sealedBytes: [UInt8] { Array(text.utf8) }
}
