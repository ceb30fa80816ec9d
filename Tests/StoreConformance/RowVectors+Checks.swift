import RegentCryptography
import RegentJSON
import RegentSQL

/// All rows of a table as the database has them, read without the code for signed rows.
struct RawTable: Sendable {
  let name: String
  let columns: [String]
  let rows: [[SQLValue]]

  fileprivate var isSigned: Bool { columns.contains("signature") }
  /// The rows without the signature.
  fileprivate var plainRows: [[SQLValue]] {
    rows.map { row in zip(columns, row).filter { $0.0 != "signature" }.map(\.1) }
  }
}

extension RowVectors {
  /// Chooses one row of each table: the one with the fewest NULLs.
  ///
  /// It takes all data keys, all key pairs that sign rows, all names of migrations, and all that nodes tell each other.
  init(_ name: String, masterKey: [UInt8], of tables: [RawTable]) throws {
    func plainRows(of name: String) -> [[SQLValue]] { tables.first { $0.name == name }?.plainRows ?? [] }
    let keys = try VectorKeys(
      masterKey: masterKey, dataKeys: plainRows(of: "data_key"), keyPairs: plainRows(of: "key_pair"))
    self.name = name
    self.masterKey = masterKey
    vectors = try tables.flatMap { table in
      var rows = Array(zip(table.plainRows, table.rows))
      switch table.name {
      case "data_key", "schema_migration", "change", "nonce": break
      case "key_pair": rows = rows.filter { $0.0.contains(.text("rows")) }
      default:
        let fewest = rows.map { row in row.0.count { $0 == .null } }.min()
        rows = Array(rows.filter { row in row.0.count { $0 == .null } == fewest }.prefix(1))
      }
      guard !rows.isEmpty else { throw ConformanceFailure(finding: "no row in \(table.name)", line: #line) }
      return try rows.map { try RowVector(table, $0.0, $0.1, keys) }
    }
  }
}

extension RowVector {
  fileprivate init(_ table: RawTable, _ plain: [SQLValue], _ whole: [SQLValue], _ keys: VectorKeys) throws {
    self.table = table.name
    let names = table.columns.filter { $0 != "signature" }
    cells = zip(names, plain).map { name, value in
      Cell(column: name, value: value, opened: keys.open(value, table.name, name, plain))
    }
    guard table.isSigned else {
      signature = nil
      return
    }
    guard case .blob(let code) = whole[table.columns.firstIndex(of: "signature") ?? 0] else {
      throw ConformanceFailure(finding: "no signature in \(table.name)", line: #line)
    }
    var pair: String?
    if table.name != "key_pair", let place = names.firstIndex(of: "public_key"), case .text(let id) = plain[place] {
      pair = id
    }
    for form in UInt8(1)..<100 {
      let message = VectorKeys.message(table.name, form, plain)
      guard try keys.code(message, pair: pair) == code else { continue }
      signature = Signature(form: form, pair: pair, message: message, code: code)
      return
    }
    throw ConformanceFailure(finding: "no form of \(table.name) has this signature", line: #line)
  }
}

/// What today's code makes of a stored row.
struct RowAsRead: Sendable {
  let table: String
  let keyCount: Int
  let columns: [String]
  let form: UInt8
  let values: [SQLValue]
  let signature: [UInt8]
  /// The bytes that today's code signs for this row.
  let message: [UInt8]
  /// The columns that today's code writes for the record; nil when the row does not verify.
  let again: [SQLValue]?
  /// The columns with which the row still verifies after a change of their value.
  let unprotected: [String]
}

/// The same row with one value changed, for each column and the signature.
func rowsWithOneChange(
  _ columns: [String], _ values: [SQLValue], _ signature: [UInt8]
) -> [(column: String, values: [SQLValue], signature: [UInt8])] {
  var changed: [(column: String, values: [SQLValue], signature: [UInt8])] = []
  for (place, value) in values.enumerated() {
    let others: [SQLValue] =
      switch value {
      case .null: [.text("x"), .integer(1), .blob([UInt8](repeating: 1, count: 32))]
      case .text(let text): [.text(text + "x"), .text(""), .null].filter { $0 != value }
      case .integer(let number): [.integer(number ^ 1), .integer(number &+ 1000), .null]
      case .blob(let bytes): [.blob(bytes.isEmpty ? [1] : [bytes[0] ^ 1] + bytes.dropFirst()), .null]
      case .real: []
      }
    for other in others {
      var row = values
      row[place] = other
      changed.append((columns[place], row, signature))
    }
  }
  return changed + [("signature", values, [signature[0] ^ 1] + signature.dropFirst()), ("signature", values, [])]
}

extension RowVectors {
  /// Compares the vectors with themselves: signatures, signed bytes and the contents of encrypted values.
  func inconsistencies() throws -> [String] {
    let keys = try keys()
    return try vectors.flatMap { vector -> [String] in
      var found: [String] = []
      for cell in vector.cells where keys.open(cell.value, vector.table, cell.column, vector.values) != cell.opened {
        found.append("\(vector.table).\(cell.column) opens to something else")
      }
      if let signature = vector.signature {
        if VectorKeys.message(vector.table, signature.form, vector.values) != signature.message {
          found.append("\(vector.table): other bytes are signed")
        }
        if try keys.code(signature.message, pair: signature.pair) != signature.code {
          found.append("\(vector.table): another signature")
        }
      }
      return found
    }
  }

  private func keys() throws -> VectorKeys {
    try VectorKeys(
      masterKey: masterKey, dataKeys: vectors.filter { $0.table == "data_key" }.map(\.values),
      keyPairs: vectors.filter { $0.table == "key_pair" }.map(\.values))
  }

  /// Compares the vectors with what today's code reads from a database that was made from them and migrated.
  ///
  /// `rows` are all rows of all signed tables. `added` has the values of columns that migrations have added since the
  /// vectors were made, by `TABLE.COLUMN`. `widened` names JSON columns to which today's code adds members that a row
  /// of this version lacks.
  func problems(
    reading rows: [RowAsRead], added: [String: SQLValue] = [:], widened: Set<String> = []
  ) throws -> [String] {
    let keys = try keys()
    return vectors.filter { $0.signature != nil }.flatMap { vector -> [String] in
      let same = rows.filter {
        $0.table == vector.table && $0.values.prefix($0.keyCount) == vector.values.prefix($0.keyCount)
      }
      guard same.count == 1, let row = same.first else { return ["\(vector.table): \(same.count) rows"] }
      guard let again = row.again else { return ["\(vector.table): the row does not verify"] }
      return row.unprotected.map { "\(vector.table).\($0) can be changed" }
        + differences(of: row, from: vector, added)
        + zip(row.columns, zip(row.values, again)).compactMap { column, values -> String? in
          let place = "\(vector.table).\(column)"
          let (old, new) = values
          if let opened = keys.open(old, vector.table, column, row.values) {
            let isSame =
              keys.open(new, vector.table, column, row.values) == opened && old.header == new.header
              && old.length == new.length
            return isSame ? nil : "\(place) is sealed differently when it is written again"
          }
          if old == new || widened.contains(place) && new.hasMembers(of: old) { return nil }
          return "\(place) has other bytes when it is written again"
        }
    }
  }

  private func differences(of row: RowAsRead, from vector: RowVector, _ added: [String: SQLValue]) -> [String] {
    var wanted: [String: SQLValue] = [:]
    for cell in vector.cells { wanted[cell.column] = cell.value }
    let new = row.columns.filter { wanted[$0] == nil }
    for column in new { wanted[column] = added["\(vector.table).\(column)"] }
    var found = zip(row.columns, row.values).filter { wanted[$0.0] != $0.1 }.map {
      "\(vector.table).\($0.0) is another"
    }
    if new.isEmpty, let signature = vector.signature,
      row.form != signature.form || row.message != signature.message || row.signature != signature.code
    {
      found.append("\(vector.table): the signed form is another")
    }
    return found
  }
}

extension SQLValue {
  /// The version and key id of an encrypted value.
  fileprivate var header: [UInt8] {
    guard case .blob(let bytes) = self else { return [] }
    return Array(bytes.prefix(5))
  }

  fileprivate var length: Int {
    guard case .blob(let bytes) = self else { return 0 }
    return bytes.count
  }

  /// Whether this JSON object has all members of the other one, with the same values.
  fileprivate func hasMembers(of other: SQLValue) -> Bool {
    guard case .text(let new) = self, case .text(let old) = other, let new = try? JSONValue(reading: new),
      let old = try? JSONValue(reading: old).object
    else { return false }
    return old.members.allSatisfy { new[$0.name] == $0.value }
  }
}
