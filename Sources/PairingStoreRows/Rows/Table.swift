import RegentCryptography
import RegentSQL

/// What a row's signature covers: the columns in this order, under a version number.
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
/// A change of the order needs a new version of the signed form.
package struct Table<Record: Sendable>: Sendable {
  /// The key that signs the rows of a table.
  enum Signer: Sendable {
    /// A key of the service: for records that operators create and for records of no requestor.
    case service
    /// The requestor's row pair, which the column `public_key` names.
    case rowPair
  }

  let name: String
  let signer: Signer
  /// The number of leading columns that form the primary key.
  let keyCount: Int
  let form: SignedForm
  let encode: @Sendable (Record, Vault) -> [SQLValue]
  let decode: @Sendable (inout Fields, Vault) throws(UnreadableRow) -> Record
  let select: String
  /// Queries for one row by its first column, which is the primary key of most tables, and by its first two.
  private let selectOne, selectByTwo: String
  private let firstName, firstNames: [String]?
  let insert: String
  /// Writes nothing if the row conflicts with an existing one.
  let insertNew: String
  let publicKey: Int?
  /// The cache of verified rows, for the few tables that every verb reads.
  let known: (@Sendable (VerifiedRowCache) -> VerifiedTableCache<Record>)?

  init(
    _ name: String, version: UInt8 = 1, signer: Signer = .service, key keyCount: Int = 1,
    known: (@Sendable (VerifiedRowCache) -> VerifiedTableCache<Record>)? = nil, _ columns: [Column],
    encode: @escaping @Sendable (Record, Vault) -> [SQLValue],
    decode: @escaping @Sendable (inout Fields, Vault) throws(UnreadableRow) -> Record
  ) {
    self.name = name
    self.signer = signer
    self.keyCount = keyCount
    self.known = known
    form = SignedForm(version: version, columns: columns)
    self.encode = encode
    self.decode = decode
    let names = columns.map(\.name).joined(separator: ", ")
    select = "SELECT \(names), signature FROM \(name)"
    selectOne = "\(select) WHERE \(columns[0].isGiven)"
    selectByTwo = columns.count < 2 ? selectOne : "\(selectOne) AND \(columns[1].isGiven)"
    // The query for a long column binds two values, so its result cannot be tied to columns (``Question/columns``).
    firstName = columns[0].isLong ? nil : [columns[0].name]
    firstNames = columns.prefix(2).contains(where: \.isLong) ? nil : columns.prefix(2).map(\.name)
    let places = columns.map { _ in "?, " }.joined()
    insert = "INSERT INTO \(name) (\(names), signature) VALUES (\(places)?)"
    insertNew = "\(insert) ON CONFLICT DO NOTHING"
    publicKey = columns.firstIndex { $0.name == "public_key" }
  }

  var columns: [Column] { form.columns }

  /// The query for one row by its first column.
  ///
  /// Its text is built once.
  func row(_ id: String) -> Question {
    Question(sql: SQL(unsafeRawSQL: selectOne, [.text(id)]), table: name, columns: firstName)
  }

  /// The query for one row by its first two columns.
  func row(_ first: String, _ second: String) -> Question {
    Question(
      sql: SQL(unsafeRawSQL: selectByTwo, columns[0].given(.text(first)) + columns[1].given(.text(second))),
      table: name, columns: firstNames)
  }

  /// The condition that selects one row by its primary key.
  var hasKey: String { columns.prefix(keyCount).map(\.isGiven).joined(separator: " AND ") }

  /// The values to bind in that condition.
  func key(of values: [SQLValue]) -> [SQLValue] { zip(columns.prefix(keyCount), values).flatMap { $0.given($1) } }

  /// The positions of these columns, and the statement that changes them if the row is unchanged since it was read.
  func change(of names: [String]) -> RowChange {
    let places = names.compactMap { name in columns.firstIndex { $0.name == name } }
    precondition(places.count == names.count, "\(name) has no such column")
    let assignments = places.map { "\(columns[$0].name) = ?, " }.joined()
    return RowChange(
      places: places, text: "UPDATE \(name) SET \(assignments)signature = ? WHERE \(hasKey) AND signature = ?")
  }
}

struct RowChange: Sendable {
  let places: [Int]
  let text: String
}

/// A record with the row that it was read from, which an update starts from.
struct Stored<Record: Sendable> {
  let record: Record
  let values: [SQLValue]
  let signature: [UInt8]
}

extension SQL.StringInterpolation {
  /// The beginning of a query for whole rows: `"\(all: table) WHERE …"`.
  mutating func appendInterpolation<Record>(all table: Table<Record>) {
    appendInterpolation(unsafeRawSQL: table.select)
  }

  /// The condition that a column equals this text, or is NULL; written so that both databases use an index.
  mutating func appendInterpolation(_ column: StaticString, is text: String?) {
    appendLiteral(column)
    guard let text else { return appendLiteral(" IS NULL") }
    appendLiteral(" = ")
    appendInterpolation(text)
  }

  /// The condition that selects one row by its primary key.
  mutating func appendInterpolation<Record>(keyOf values: [SQLValue], in table: Table<Record>) {
    appendInterpolation(part: SQL(unsafeRawSQL: table.hasKey, table.key(of: values)))
  }
}

extension Column {
  /// The expression by which an index contains this column; nil when the index contains the column itself.
  private var hash: String? { isLong ? Dialect.hash(of: name) : nil }

  /// The condition that the column has a bound value.
  fileprivate var isGiven: String { "\(name) = ?" + (hash.map { " AND \($0) = ?" } ?? "") }

  /// The values to bind in that condition.
  fileprivate func given(_ value: SQLValue) -> [SQLValue] {
    guard hash != nil, case .text(let text) = value else { return [value] }
    return [value, .blob(SHA256.hash(text))]
  }
}
