import PostgreSQL
import RegentSQL

/// What the database answered to questions that were named ahead, for as long as nothing that this transaction writes
/// can have changed it.
///
/// They are asked when the transaction has the cluster to itself, so nobody else can change it either. What is not here
/// is asked when it is wanted.
struct Answers {
  /// Questions of one statement: they differ in the values they ask for.
  private struct Form {
    let text: String
    let table: String
    let columns: [String]
    var rows: [Key: Rows] = [:]
  }

  /// Values byte by byte: two texts that Swift takes for the same are two for the database.
  private struct Key: Hashable {
    let bytes: [UInt8]

    init(_ values: some Sequence<SQLValue>) {
      var bytes: [UInt8] = []
      func add(_ kind: UInt8, _ value: some Collection<UInt8>) {
        bytes.append(kind)
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value.count >> shift)) }
        bytes += value
      }
      for value in values {
        switch value {
        case .null: add(0, [])
        case .integer(let number): add(1, String(number).utf8)
        case .real(let number): add(2, String(number.bitPattern).utf8)
        case .text(let text): add(3, text.utf8)
        case .blob(let blob): add(4, blob)
        }
      }
      self.bytes = bytes
    }
  }

  private var forms: [Form] = []
  private var places: [(form: Int, key: Key)] = []
  /// The statements to send, each question once.
  private(set) var statements: [SQL] = []

  init(to questions: [Question]) {
    var known: [Set<Key>] = []
    for question in questions where question.sql.isKeepable {
      let key = Key(question.sql.values)
      var form = forms.firstIndex { $0.text == question.sql.text }
      if form == nil {
        form = forms.count
        forms.append(Form(text: question.sql.text, table: question.table, columns: question.columns))
        known.append([])
      }
      guard let form, known[form].insert(key).inserted else { continue }
      places.append((form, key))
      statements.append(question.sql)
    }
  }

  /// Takes the answers to the statements, in their order.
  mutating func take(_ results: some Sequence<Rows>) {
    for (place, rows) in zip(places, results) { forms[place.form].rows[place.key] = rows }
    (places, statements) = ([], [])
  }

  /// The answer to a statement, when it was asked ahead and is still true.
  func rows(of sql: SQL) -> Rows? {
    guard let form = forms.first(where: { $0.text == sql.text }) else { return nil }
    return form.rows[Key(sql.values)]
  }

  /// A row is written or goes: what stands on it is asked anew.
  ///
  /// Of columns that are not known it may hold anything.
  mutating func forget(_ row: TouchedRow) {
    for place in forms.indices where forms[place].table == row.table && !forms[place].rows.isEmpty {
      let values = forms[place].columns.map { name in
        row.columns.firstIndex { $0.name == name }.map { row.values[$0] }
      }
      if values.contains(nil) {
        forms[place].rows.removeAll()
      } else {
        forms[place].rows[Key(values.compactMap(\.self))] = nil
      }
    }
  }

  /// Nobody knows which rows are written or go.
  mutating func forgetAll() { forms = [] }
}
