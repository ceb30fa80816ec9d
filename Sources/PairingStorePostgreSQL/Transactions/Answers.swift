import PostgreSQL
import RegentSQL

/// The results of queries that a transaction ran in advance, kept until one of its writes may have changed them.
///
/// The queries run while the transaction holds the lock of the cluster's row, so no other transaction can change their
/// results. Queries that were not run in advance run when a store operation needs them.
struct Answers {
  /// Queries with the same SQL text, which differ in their bound values.
  private struct Form {
    let text: String
    let table: String
    let columns: [String]?
    var rows: [Key: Rows] = [:]
  }

  /// A query's bound values as bytes.
  ///
  /// Swift compares strings by canonical equivalence, but the database compares their bytes.
  private struct Key: Hashable {
    private let bytes: [UInt8]
    /// An FNV-1a hash of the bytes.
    ///
    /// Swift's hashing of an array of bytes is several times slower, and each key is looked up four times. An attacker
    /// who finds colliding keys can only slow down a batch of a thousand queries.
    private let sum: UInt64

    func hash(into hasher: inout Hasher) { hasher.combine(sum) }

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
      sum = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
  }

  /// A statement to send, and the queries that it combines.
  private struct Sent {
    let form: Int
    let keys: ArraySlice<Key>
    let asking: BatchedStatements.Asking
  }

  private var forms: [Form] = []
  private var sent: [Sent] = []
  /// The statements to send.
  ///
  /// Each of the queries is a part of exactly one of these statements.
  var statements: [SQL] { sent.map(\.asking.sql) }

  init(to questions: [Question]) { ask(questions) }

  /// Adds queries to send, except those that have a result already.
  mutating func ask(_ questions: [Question]) {
    var asked: [(form: Int, keys: [Key], set: Set<Key>, values: [[SQLValue]])] = []
    for question in questions where question.sql.isKeepable {
      let key = Key(question.sql.values)
      let form = form(of: question)
      let place = asked.firstIndex { $0.form == form } ?? asked.count
      if place == asked.count { asked.append((form, [], [], [])) }
      guard forms[form].rows[key] == nil, asked[place].set.insert(key).inserted else { continue }
      asked[place].keys.append(key)
      asked[place].values.append(question.sql.values)
    }
    for asked in asked {
      sent += BatchedStatements.questions(forms[asked.form].text, asked.values).map {
        Sent(form: asked.form, keys: asked.keys[$0.questions], asking: $0)
      }
    }
  }

  /// Stores the results of the statements, in their order.
  mutating func take(_ results: some Sequence<Rows>) throws {
    for (sent, rows) in zip(sent, results) {
      for (key, rows) in zip(sent.keys, try BatchedStatements.answers(rows, to: sent.asking)) {
        forms[sent.form].rows[key] = rows
      }
    }
    sent = []
  }

  /// Stores the result of a query that was not run in advance.
  mutating func keep(_ rows: Rows, to question: Question) {
    forms[form(of: question)].rows[Key(question.sql.values)] = rows
  }

  private mutating func form(of question: Question) -> Int {
    if let place = forms.firstIndex(where: { $0.text == question.sql.text }) { return place }
    forms.append(Form(text: question.sql.text, table: question.table, columns: question.columns))
    return forms.count - 1
  }

  /// The stored result of a query; nil when it has none.
  func rows(of sql: SQL) -> Rows? {
    guard let form = forms.first(where: { $0.text == sql.text }) else { return nil }
    return form.rows[Key(sql.values)]
  }

  /// Removes the results that may depend on a row which is written or deleted.
  ///
  /// A column that the description of the row leaves out may have any value.
  mutating func forget(_ row: TouchedRow) {
    for place in forms.indices where forms[place].table == row.table && !forms[place].rows.isEmpty {
      let values = forms[place].columns?.map { name in
        row.columns.firstIndex { $0.name == name }.map { row.values[$0] }
      }
      if let values, !values.contains(nil) {
        forms[place].rows[Key(values.compactMap(\.self))] = nil
      } else {
        forms[place].rows.removeAll()
      }
    }
  }

  /// Removes all cached query results, because it is not known which rows a statement writes.
  mutating func forgetAll() { forms = [] }
}
