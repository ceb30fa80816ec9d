import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentSQL
import TestSupport

/// The stored rows of one version of a database's schema, frozen as `Tests/fixtures/rows/NAME.json`.
///
/// There is one row of each table, and the keys that signed and sealed them. Tests/fixtures/README.md says how they are
/// made. This file computes signatures and seals itself: the code that it checks is the rows' own (PairingStoreRows).
struct RowVectors: CustomStringConvertible, Sendable {
  /// The database and the version of its schema, such as `sqlite-10`.
  let name: String
  let masterKey: [UInt8]
  let vectors: [RowVector]

  var description: String { name }
  var database: String { String(name.prefix { $0 != "-" }) }
  /// The version of the schema: on SQLite the number of migrations, on PostgreSQL the column `schema` of `cluster`.
  var schema: Int { Int(name.drop { $0 != "-" }.dropFirst()) ?? 0 }
  var tables: Set<String> { Set(vectors.map(\.table)) }

  /// Reads all files of one kind of database, oldest schema first.
  static func all(of database: String) -> [RowVectors] {
    let names = (try? run("ls", [folder]))?.outputText.split(whereSeparator: \.isNewline) ?? []
    return names.filter { $0.hasPrefix("\(database)-") && $0.hasSuffix(".json") }
      .map { file in
        do {
          return try RowVectors(String(file.dropLast(5)), JSONValue(reading: try readFile("\(folder)/\(file)")))
        } catch {
          fatalError("\(file): \(error)")
        }
      }
      .sorted { $0.schema < $1.schema }
  }

  private static let folder = "\(packageFolder())/Tests/fixtures/rows"

  func write() throws {
    try writeFile("\(Self.folder)/\(name).json", JSONWriter.bytes(style: .pretty, write) + [UInt8(ascii: "\n")])
  }
}

/// A row of a table.
struct RowVector: Sendable {
  struct Cell: Sendable {
    let column: String
    let value: SQLValue
    /// What an encrypted value contains.
    var opened: [UInt8]?
  }

  struct Signature: Sendable {
    /// The version of the table's signed form.
    let form: UInt8
    /// The id of the key pair that signs the row; nil when the service's own key does.
    let pair: String?
    /// The bytes that the signature covers.
    let message: [UInt8]
    let code: [UInt8]
  }

  let table: String
  /// The columns in the order in which they are signed, without the signature.
  let cells: [Cell]
  /// Nil for a row of a table without signatures.
  let signature: Signature?

  var values: [SQLValue] { cells.map(\.value) }
}

// MARK: - The keys

/// The keys of a store, computed from the vectors alone.
struct VectorKeys {
  private(set) var data: [String: [UInt8]] = [:]
  private let master: SealingKey
  private var pairs: [String: [UInt8]] = [:]

  init(masterKey: [UInt8], dataKeys: [[SQLValue]], keyPairs: [[SQLValue]]) throws {
    master = try found(SealingKey(id: 0, Secret(copying: masterKey)), "master key")
    for row in dataKeys {
      guard case .text(let purpose) = row[0], case .blob(let sealed) = row[1] else { continue }
      data[purpose] = try master.open(sealed, associatedData: Self.place("data_key", purpose)).exposedBytes()
    }
    for row in keyPairs {
      guard case .text(let id) = row[0], let secret = open(row[3], "key_pair", "secret", row) else { continue }
      pairs[id] = secret
    }
  }

  /// The contents of an encrypted value; nil for a value that is not encrypted.
  func open(_ value: SQLValue, _ table: String, _ column: String, _ row: [SQLValue]) -> [UInt8]? {
    guard case .blob(let box) = value, case .text(let id) = row[0] else { return nil }
    let key = table == "data_key" ? master : data["sealing"].flatMap { SealingKey(id: 1, Secret(copying: $0)) }
    let place = table == "data_key" ? table : "\(table).\(column)"
    return try? key?.open(box, associatedData: Self.place(place, id)).exposedBytes()
  }

  func code(_ message: [UInt8], pair: String?) throws -> [UInt8] {
    guard let pair else {
      return try HMACKey(.sha256, Secret(copying: found(data["records"], "key for records"))).code(message)
    }
    var info = FramedFields(purpose: "row key", version: 1)
    info.append(pair)
    info.append(try found(pairs[pair], "key pair \(pair)"))
    let rows = Secret(copying: try found(data["rows"], "key for rows"))
    return try HMACKey(.sha256, HKDF.derive(from: rows, info: info.bytes)).code(message)
  }

  static func message(_ table: String, _ form: UInt8, _ values: [SQLValue]) -> [UInt8] {
    var fields = FramedFields(purpose: table, version: form)
    for value in values {
      switch value {
      case .null: fields.append(nil as [UInt8]?)
      case .integer(let number): fields.append(number)
      case .text(let text): fields.append(text)
      case .blob(let bytes): fields.append(bytes)
      case .real: break
      }
    }
    return fields.bytes
  }

  private static func place(_ place: String, _ row: String) -> [UInt8] {
    var fields = FramedFields(purpose: place, version: 1)
    fields.append(row)
    return fields.bytes
  }
}

// MARK: - As JSON

extension RowVectors {
  private init(_ name: String, _ json: JSONValue) throws {
    self.name = name
    masterKey = try Hex.decode(found(json["masterKey"]?.string, "master key"))
    vectors = try found(json["rows"]?.array, "rows").map(RowVector.init)
  }

  private func write(_ json: inout JSONWriter) {
    json.object { json in
      json.member("masterKey", Hex.encode(masterKey))
      json.array("rows") { json in
        for vector in vectors { json.value(vector.json) }
      }
    }
  }
}

extension RowVector {
  fileprivate init(_ json: JSONValue) throws {
    table = try found(json["table"]?.string, "table")
    cells = try found(json["columns"]?.object, "columns").members.map { member in
      Cell(
        column: member.name, value: try SQLValue(member.value),
        opened: try member.value["opens"].map(SQLValue.init)?.contents)
    }
    guard let form = json["form"]?.int64 else {
      signature = nil
      return
    }
    signature = Signature(
      form: UInt8(form), pair: json["signedBy"]?.string,
      message: try Hex.decode(found(json["signed"]?.string, "signed bytes")),
      code: try Hex.decode(found(json["signature"]?.string, "signature")))
  }

  fileprivate var json: JSONValue {
    var columns = JSONObject()
    for cell in cells {
      var value = cell.value.json
      if let opened = cell.opened {
        value["opens"] =
          String(validating: opened, as: UTF8.self).map { ["text": .string($0)] }
          ?? .object(SQLValue.blob(opened).json)
      }
      columns[cell.column] = .object(value)
    }
    var row: JSONObject = ["table": .string(table)]
    if let signature {
      row["form"] = .integer(Int64(signature.form))
      row["signedBy"] = signature.pair.map { .string($0) } ?? .null
    }
    row["columns"] = .object(columns)
    if let signature {
      row["signed"] = .string(Hex.encode(signature.message))
      row["signature"] = .string(Hex.encode(signature.code))
    }
    return .object(row)
  }
}

extension SQLValue {
  fileprivate init(_ json: JSONValue) throws {
    if let text = json["text"]?.string {
      self = .text(text)
    } else if let number = json["number"]?.int64 {
      self = .integer(number)
    } else {
      self = try json["bytes"]?.string.map { .blob(try Hex.decode($0)) } ?? .null
    }
  }

  fileprivate var json: JSONObject {
    switch self {
    case .text(let text): ["text": .string(text)]
    case .integer(let number): ["number": .integer(number)]
    case .blob(let bytes): ["bytes": .string(Hex.encode(bytes))]
    case .null, .real: ["null": true]
    }
  }

  fileprivate var contents: [UInt8]? {
    switch self {
    case .text(let text): Array(text.utf8)
    case .blob(let bytes): bytes
    default: nil
    }
  }
}
