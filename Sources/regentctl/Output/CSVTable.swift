import CommandKit

/// A table in CSV (RFC 4180) whose first line names the columns.
///
/// Fields are separated by commas or semicolons, as the first line shows. Quoted fields may contain separators, line
/// ends and doubled quotation marks.
struct CSVTable {
  struct Row {
    /// The number of the row's first line; the first line of the file has number 1.
    let line: Int
    fileprivate let fields: [String: String]

    /// The field in a column; nil if the table has no such column, or if the field is empty.
    subscript(column: String) -> String? { fields[column].flatMap { $0.isEmpty ? nil : $0 } }
  }

  let columns: [String]
  private(set) var rows: [Row] = []

  /// Whether a file that should have been JSON looks like CSV.
  static func isLikely(_ bytes: [UInt8]) -> Bool {
    let first = bytes.prefix { $0 != 0x0A }
    guard let start = first.first(where: { $0 > 0x20 }), start != UInt8(ascii: "{"), start != UInt8(ascii: "[") else {
      return false
    }
    return first.contains(UInt8(ascii: ",")) || first.contains(UInt8(ascii: ";"))
  }

  /// Reads the table; `name` is the file's name in messages.
  init(_ bytes: [UInt8], named name: String) throws(CommandError) {
    // Spreadsheets write a byte order mark.
    let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError("\(name) is not valid UTF-8", hint: "save it as CSV in UTF-8")
    }
    let first = text.unicodeScalars.prefix { $0 != "\n" && $0 != "\r" }
    let separator: Unicode.Scalar = first.contains(";") && !first.contains(",") ? ";" : ","
    var records = try Self.records(of: text, separator, name)
    guard !records.isEmpty else {
      throw CommandError("\(name) is empty", hint: "its first line names the columns: name,password")
    }
    columns = records.removeFirst().fields.map { $0.lowercased() }
    guard Set(columns).count == columns.count else {
      throw CommandError("\(name): two columns have the same name", hint: "rename or remove one of them")
    }
    for record in records {
      guard record.fields.count == columns.count else {
        throw CommandError(
          "\(name), line \(record.line) has \(counted(record.fields.count, "field")), but the first line names "
            + counted(columns.count, "column"),
          hint: "give each line \(counted(columns.count, "field")); quote a field that contains the separator: "
            + "\"a\(separator)b\"")
      }
      rows.append(Row(line: record.line, fields: Dictionary(uniqueKeysWithValues: zip(columns, record.fields))))
    }
  }

  private static func records(
    of text: String, _ separator: Unicode.Scalar, _ name: String
  ) throws(CommandError) -> [(line: Int, fields: [String])] {
    var records: [(line: Int, fields: [String])] = []
    var (fields, field, line, start) = ([String](), "", 1, 1)
    var (isQuoted, wasQuoted) = (false, false)
    func endRecord() {
      // A line without anything in it is no record.
      if !fields.isEmpty || !field.isEmpty || wasQuoted { records.append((start, fields + [field])) }
      (fields, field, wasQuoted, start) = ([], "", false, line)
    }
    let scalars = Array(text.unicodeScalars)
    var place = 0
    while place < scalars.count {
      let scalar = scalars[place]
      if scalar == "\n" { line += 1 }
      switch (scalar, isQuoted) {
      case ("\"", true) where place + 1 < scalars.count && scalars[place + 1] == "\"":
        field.unicodeScalars.append("\"")
        place += 1
      case ("\"", true): isQuoted = false
      case ("\"", false) where field.isEmpty && !wasQuoted: (isQuoted, wasQuoted) = (true, true)
      case (separator, false):
        fields.append(field)
        (field, wasQuoted) = ("", false)
      case ("\r", false) where place + 1 == scalars.count || scalars[place + 1] == "\n": break
      case ("\n", false): endRecord()
      default: field.unicodeScalars.append(scalar)
      }
      place += 1
    }
    guard !isQuoted else {
      throw CommandError("\(name), line \(start): a quotation mark has no end", hint: "add the second quotation mark")
    }
    endRecord()
    return records
  }
}
