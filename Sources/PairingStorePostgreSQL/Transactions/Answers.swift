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
    let columns: [String]?
    var rows: [Key: Rows] = [:]
  }

  /// Values byte by byte: two texts that Swift takes for the same are two for the database.
  private struct Key: Hashable {
    private let bytes: [UInt8]
    /// FNV-1a of them.
    ///
    /// An array hashes byte by byte, several times as slowly, and each key is looked for four times. Who finds keys
    /// that share one makes a batch of a thousand questions slower, and nothing else.
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

  /// What is sent, and which questions of which form it asks.
  private struct Sent {
    let form: Int
    let keys: ArraySlice<Key>
    let asking: BatchedStatements.Asking
  }

  private var forms: [Form] = []
  private var sent: [Sent] = []
  /// The statements to send; each question is in one of them, once.
  var statements: [SQL] { sent.map(\.asking.sql) }

  /// The answers to questions that are to be sent, each once.
  init(to questions: [Question]) { ask(questions) }

  /// More questions that have no answer yet.
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

  /// Takes the answers to the statements, in their order.
  mutating func take(_ results: some Sequence<Rows>) throws {
    for (sent, rows) in zip(sent, results) {
      for (key, rows) in zip(sent.keys, try BatchedStatements.answers(rows, to: sent.asking)) {
        forms[sent.form].rows[key] = rows
      }
    }
    sent = []
  }

  /// Keeps an answer that was asked for when it was wanted.
  mutating func keep(_ rows: Rows, to question: Question) {
    forms[form(of: question)].rows[Key(question.sql.values)] = rows
  }

  private mutating func form(of question: Question) -> Int {
    if let place = forms.firstIndex(where: { $0.text == question.sql.text }) { return place }
    forms.append(Form(text: question.sql.text, table: question.table, columns: question.columns))
    return forms.count - 1
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

  /// Nobody knows which rows are written or go.
  mutating func forgetAll() { forms = [] }
}
