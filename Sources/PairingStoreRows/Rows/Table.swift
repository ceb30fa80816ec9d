import RegentCryptography
import RegentSQL

/// The list of columns that a row's signature covers, in this order, under a version number.
///
/// When a table gains or loses a column, or a column changes its meaning, the table gets the next version and a
/// migration signs its rows again (``Resigning``). Row keys and encrypted values do not depend on the version.
struct SignedForm: Sendable {
  let version: UInt8
  let columns: [Column]
}

/// A table of signed rows: its columns in the order in which they are signed, and the conversion between record and
/// row.
///
/// A change of the column order needs a new version of the signed form.
package struct Table<Record: Sendable>: Sendable {
  /// The key that signs the rows of a table.
  enum Signer: Sendable {
    /// A key of the service signs the rows: for records that operators create and for records of no requestor.
    case service
    /// A key pair of the requestor signs the rows.
    ///
    /// The column `public_key` names that pair.
    case rowPair
  }

  let name: String
  let signer: Signer
  /// The number of leading columns that form the primary key.
  let keyCount: Int
  /// Lists of columns that are unique together, besides the primary key.
  let unique: [String]
  let indexes: [Index]
  let form: SignedForm
  private let write: @Sendable (Record) -> [SQLValue]
  private let decode: @Sendable (inout Fields) throws(UnreadableRow) -> Record
  private let seals: [Seal]
  let select: String
  /// The SQL text that reads one row by its first column (the primary key of most tables), and the one that reads it by
  /// its first two columns.
  private let selectOne, selectByTwo: String
  private let firstName, firstNames: [String]?
  let insert: String
  /// The INSERT that writes nothing if the row conflicts with an existing one.
  let insertNew: String
  let publicKey: Int?
  /// The cache of verified rows, for the few tables that nearly every store operation reads.
  let known: (@Sendable (VerifiedRowCache) -> VerifiedTableCache<Record>)?

  init(
    _ name: String, version: UInt8 = 1, signer: Signer = .service, key keyCount: Int = 1,
    known: (@Sendable (VerifiedRowCache) -> VerifiedTableCache<Record>)? = nil, unique: [String] = [],
    indexes: [Index] = [], _ columns: [Column],
    encode: @escaping @Sendable (Record) -> [SQLValue],
    decode: @escaping @Sendable (inout Fields) throws(UnreadableRow) -> Record
  ) {
    self.name = name
    self.signer = signer
    self.keyCount = keyCount
    self.known = known
    (self.unique, self.indexes) = (unique, indexes)
    form = SignedForm(version: version, columns: columns)
    write = encode
    self.decode = decode
    seals = columns.enumerated().filter(\.element.isSealed).map { Seal(place: $0, label: "\(name).\($1.name)") }
    let names = columns.map(\.name).joined(separator: ", ")
    select = "SELECT \(names), signature FROM \(name)"
    selectOne = "\(select) WHERE \(columns[0].isGiven)"
    selectByTwo = columns.count < 2 ? selectOne : "\(selectOne) AND \(columns[1].isGiven)"
    // Values of a long column are looked up by a hash, so the query binds two values for that column: the hash and the
    // value itself. ``Question/columns`` requires one bound value for each column, so it stays nil.
    firstName = columns[0].isLong ? nil : [columns[0].name]
    firstNames = columns.prefix(2).contains(where: \.isLong) ? nil : columns.prefix(2).map(\.name)
    let places = columns.map { _ in "?, " }.joined()
    insert = "INSERT INTO \(name) (\(names), signature) VALUES (\(places)?)"
    insertNew = "\(insert) ON CONFLICT DO NOTHING"
    publicKey = columns.firstIndex { $0.name == "public_key" }
  }

  /// Declares a table whose rows are converted as its columns say.
  init<each Part: Sendable>(
    _ name: String, version: UInt8 = 1, signer: Signer = .service, key keyCount: Int = 1,
    known: (@Sendable (VerifiedRowCache) -> VerifiedTableCache<Record>)? = nil, unique: [String] = [],
    indexes: [Index] = [],
    _ parts: repeat Columns<Record, each Part>,
    make: @escaping @Sendable (repeat each Part) throws(UnreadableRow) -> Record
  ) {
    let columns = Columns(repeat each parts, make: make)
    self.init(
      name, version: version, signer: signer, key: keyCount, known: known, unique: unique, indexes: indexes,
      columns.list,
      encode: columns.values(of:), decode: columns.read)
  }

  var columns: [Column] { form.columns }

  /// The values of a record's row, encrypted where the table's columns say so.
  func encode(_ record: Record, _ vault: Vault) -> [SQLValue] {
    var values = write(record)
    for seal in seals {
      guard case .blob(let bytes) = values[seal.place], case .text(let row) = values[0] else {
        preconditionFailure("\(name) has no text id to which an encrypted value is bound")
      }
      values[seal.place] = vault.seal(bytes, seal.label, of: row)
    }
    return values
  }

  func decode(_ values: [SQLValue], _ vault: Vault) throws(UnreadableRow) -> Record {
    var fields = Fields(values, vault, seals)
    return try decode(&fields)
  }

  /// The query for one row by its first column.
  ///
  /// Its SQL text is built once, when the table is declared.
  func row(_ id: String) -> Question {
    Question(sql: SQL(unsafeRawSQL: selectOne, [.text(id)]), table: name, columns: firstName)
  }

  /// The query for one row by its first two columns.
  func row(_ first: String, _ second: String) -> Question {
    Question(
      sql: SQL(unsafeRawSQL: selectByTwo, columns[0].given(.text(first)) + columns[1].given(.text(second))),
      table: name, columns: firstNames)
  }

  /// The SQL condition that selects one row by its primary key.
  var hasKey: String { columns.prefix(keyCount).map(\.isGiven).joined(separator: " AND ") }

  /// The values to bind in the condition `hasKey`.
  func key(of values: [SQLValue]) -> [SQLValue] { zip(columns.prefix(keyCount), values).flatMap { $0.given($1) } }

  /// The positions of these columns, and the UPDATE that changes them if the row is unchanged since it was read.
  func change(of names: [String]) -> RowChange {
    let places = names.compactMap { name in columns.firstIndex { $0.name == name } }
    precondition(places.count == names.count, "\(name) has no such column")
    let assignments = places.map { "\(columns[$0].name) = ?, " }.joined()
    return RowChange(
      places: places, text: "UPDATE \(name) SET \(assignments)signature = ? WHERE \(hasKey) AND signature = ?")
  }
}

/// An index of a table, which is named after the table and itself.
struct Index: Sendable {
  let name: String
  let columns: String
  /// The condition of a partial index.
  let condition: String?

  init(_ name: String, on columns: String, where condition: String? = nil) {
    (self.name, self.columns, self.condition) = (name, columns, condition)
  }
}

struct RowChange: Sendable {
  let places: [Int]
  let text: String
}

/// A record together with the row from which it was read.
///
/// An update needs both.
struct Stored<Record: Sendable> {
  let record: Record
  let values: [SQLValue]
  let signature: [UInt8]
}

extension SQL.StringInterpolation {
  /// Writes the beginning of a query for whole rows of the table into the SQL text: `"\(all: table) WHERE …"`.
  mutating func appendInterpolation<Record>(all table: Table<Record>) {
    appendInterpolation(unsafeRawSQL: table.select)
  }

  /// Writes the condition that a column equals this text, or is NULL, in a form for which both databases use an index.
  mutating func appendInterpolation(_ column: StaticString, is text: String?) {
    appendLiteral(column)
    guard let text else { return appendLiteral(" IS NULL") }
    appendLiteral(" = ")
    appendInterpolation(text)
  }

  /// Writes the condition that selects one row by its primary key into the SQL text.
  mutating func appendInterpolation<Record>(keyOf values: [SQLValue], in table: Table<Record>) {
    appendInterpolation(part: SQL(unsafeRawSQL: table.hasKey, table.key(of: values)))
  }
}

extension Column {
  /// The expression by which an index contains this column: a hash for a long column.
  ///
  /// Nil when the index contains the column itself.
  private var hash: String? { isLong ? Dialect.hash(of: name) : nil }

  /// The SQL condition that this column equals a bound parameter.
  ///
  /// For a long column it also compares the hash, because the index contains only the hash.
  fileprivate var isGiven: String { "\(name) = ?" + (hash.map { " AND \($0) = ?" } ?? "") }

  /// The values to bind in the condition `isGiven`.
  fileprivate func given(_ value: SQLValue) -> [SQLValue] {
    guard hash != nil, case .text(let text) = value else { return [value] }
    return [value, .blob(SHA256.hash(text))]
  }
}
