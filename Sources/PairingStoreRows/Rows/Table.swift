import RegentCryptography
import RegentSQL

/// What a signature of a row covers: its columns in this order, under a version number.
///
/// A table that gets a column, loses one or says something else in one gets the next version, and a migration signs its
/// rows anew (``Resigning``). Neither row keys nor sealed values know of it.
struct SignedForm: Sendable {
  let version: UInt8
  let columns: [Column]
}

/// A table of signed rows: which columns it has, in the order in which they are signed, and how a record becomes a row.
///
/// The order is part of the signature: a change of it is a new version of the table's signed form.
package struct Table<Record: Sendable>: Sendable {
  /// With which key a row is signed.
  enum Signer: Sendable {
    /// The service's own: what operators make, and what belongs to no requestor.
    case service
    /// The requestor's row pair that the column `public_key` names.
    case rowPair
  }

  let name: String
  let signer: Signer
  /// How many of the first columns are the primary key.
  let keyCount: Int
  let form: SignedForm
  let encode: @Sendable (Record, Vault) -> [SQLValue]
  let decode: @Sendable (inout Fields, Vault) throws(UnreadableRow) -> Record
  let select: String
  /// Asks for one row by its first column, the primary key of most tables, and by its first two.
  private let selectOne, selectByTwo: String
  private let firstName, firstNames: [String]?
  let insert: String
  /// Writes nothing where the row would be in another one's place.
  let insertNew: String
  let publicKey: Int?
  /// Where rows that verified before are kept, for the few tables that every verb looks at.
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
    // A long column is asked for by two values, so an answer does not say which rows it stands on.
    firstName = columns[0].isLong ? nil : [columns[0].name]
    firstNames = columns.prefix(2).contains(where: \.isLong) ? nil : columns.prefix(2).map(\.name)
    let places = columns.map { _ in "?, " }.joined()
    insert = "INSERT INTO \(name) (\(names), signature) VALUES (\(places)?)"
    insertNew = "\(insert) ON CONFLICT DO NOTHING"
    publicKey = columns.firstIndex { $0.name == "public_key" }
  }

  var columns: [Column] { form.columns }

  /// The question for one row by its first column, which is not put together anew each time.
  func row(_ id: String) -> Question {
    Question(sql: SQL(unsafeRawSQL: selectOne, [.text(id)]), table: name, columns: firstName)
  }

  /// The question for one row by its first two columns.
  func row(_ first: String, _ second: String) -> Question {
    Question(
      sql: SQL(unsafeRawSQL: selectByTwo, columns[0].given(.text(first)) + columns[1].given(.text(second))),
      table: name, columns: firstNames)
  }

  /// The condition that finds one row by its primary key.
  var hasKey: String { columns.prefix(keyCount).map(\.isGiven).joined(separator: " AND ") }

  /// The values for that condition, of a row with these.
  func key(of values: [SQLValue]) -> [SQLValue] { zip(columns.prefix(keyCount), values).flatMap { $0.given($1) } }

  /// Where these columns stand, and the statement that changes them in a row that is still the one that was read.
  func change(of names: [String]) -> RowChange {
    let places = names.compactMap { name in columns.firstIndex { $0.name == name } }
    precondition(places.count == names.count, "\(name) has no such column")
    let assignments = places.map { "\(columns[$0].name) = ?, " }.joined()
    return RowChange(
      places: places, text: "UPDATE \(name) SET \(assignments)signature = ? WHERE \(hasKey) AND signature = ?")
  }
}

/// Some columns of a table, and the statement that changes them.
struct RowChange: Sendable {
  let places: [Int]
  let text: String
}

/// A record with the row it was read from: what a change of some columns starts from.
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

  /// The condition that a column holds this text, or none: in words with which either database uses an index.
  mutating func appendInterpolation(_ column: StaticString, is text: String?) {
    appendLiteral(column)
    guard let text else { return appendLiteral(" IS NULL") }
    appendLiteral(" = ")
    appendInterpolation(text)
  }

  /// The condition that finds one row by its primary key.
  mutating func appendInterpolation<Record>(keyOf values: [SQLValue], in table: Table<Record>) {
    appendInterpolation(part: SQL(unsafeRawSQL: table.hasKey, table.key(of: values)))
  }
}

extension Column {
  /// What an index has of it in its place.
  private var hash: String? { isLong ? Dialect.hash(of: name) : nil }

  /// The condition that it holds a value.
  fileprivate var isGiven: String { "\(name) = ?" + (hash.map { " AND \($0) = ?" } ?? "") }

  /// The values for that condition.
  fileprivate func given(_ value: SQLValue) -> [SQLValue] {
    guard hash != nil, case .text(let text) = value else { return [value] }
    return [value, .blob(SHA256.hash(text))]
  }
}
