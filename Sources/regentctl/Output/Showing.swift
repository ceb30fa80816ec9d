import Administration
import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPairing

/// The time as text: RFC 3339, in UTC.
func shown(_ instant: Instant) -> String {
  CivilDate.text(epochMilliseconds: instant.milliseconds, fraction: false)
}

/// The time as text in RFC 3339, or "-" if there is none.
func shown(_ instant: Instant?) -> String { instant.map(shown) ?? "-" }

/// The hour and minute of the time in UTC.
func shownClock(_ instant: Instant) -> String {
  let minutes = Int(instant.milliseconds / 60_000 % 1_440)
  return [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : String($0) }.joined(separator: ":")
}

/// The Boolean as text: `on` or `off`.
func shown(_ bool: Bool) -> String { bool ? "on" : "off" }

/// The texts joined for one cell of a table.
func shown(_ texts: [String]) -> String {
  texts.isEmpty ? "-" : texts.joined(separator: " ")
}

/// The viewer as text: provider/account, or "-" if there is none.
func shown(_ provider: ProviderID?, _ account: AccountName?) -> String {
  guard let provider else { return "-" }
  return account.map { "\(provider)/\($0)" } ?? provider.text
}

/// One record as lines: labels on the left, values on the right.
func details(_ rows: KeyValuePairs<String, String?>) -> [String] {
  let width = rows.map { displayWidth($0.key) }.max() ?? 0
  return rows.compactMap { label, value in
    guard let value else { return nil }
    return label + String(repeating: " ", count: width + 2 - displayWidth(label)) + value
  }
}

extension Table.Column {
  /// A column of ids, which commands accept whole or by their beginning.
  static func id(_ heading: String) -> Table.Column {
    Table.Column(heading, .id(shortest: IDPrefix.shortest))
  }
}

extension AdminDocument {
  /// The document with the member `id` first, the id that the commands accept.
  func json(under id: String) -> JSONValue {
    var object: JSONObject = ["id": .string(id)]
    for member in self.object.members where member.name != "id" { object[member.name] = member.value }
    return .object(object)
  }
}

extension SignInEntry {
  /// The document of a box: `id` is the box's id, `signIn` that of its sign-in.
  var boxJSON: JSONValue {
    var object: JSONObject = ["id": .string(device), "signIn": .string(id.text)]
    for member in self.object.members where member.name != "id" { object[member.name] = member.value }
    return .object(object)
  }
}

extension Invocation {
  /// Prints the result of a change to a record.
  func show<Record>(_ saved: Saved<Record>, _ what: String) {
    show(saved.json, lines: ["\(what) \(saved.outcome.rawValue)"])
  }

  /// Prints a list.
  ///
  /// - Parameters:
  ///   - list: the entries.
  ///   - id: the id that the commands of the noun accept, for the member `id`; nil if no command needs one.
  ///   - columns: the columns of the table.
  ///   - row: the cells of an entry.
  func show<Entry: AdminDocument>(
    list: [Entry], id: ((Entry) -> String)?, _ columns: [Table.Column], _ row: (Entry) -> [String]
  ) {
    show(list: list, json: { entry in id.map { entry.json(under: $0(entry)) } ?? entry.json }, columns, row)
  }

  /// Prints a list whose JSON documents are made by `json`.
  func show<Entry>(
    list: [Entry], json: (Entry) -> JSONValue, _ columns: [Table.Column], _ row: (Entry) -> [String]
  ) {
    if wantsJSON {
      console.print(json: .array(list.map(json)))
      return
    }
    var table = Table(columns)
    for entry in list { table.add(row(entry)) }
    console.print(table)
  }

  /// Prints a sentence, or with `--json` the document.
  func say(_ sentence: String, _ document: JSONObject) {
    show(.object(document), lines: [sentence])
  }
}

let yes = Input.flag("yes", "do not ask for confirmation")

/// An optional requestor whose entries a list shows; all of them without it.
let optionalRequestor = Input.optionalArgument(
  "REQUESTOR", identifier("ID", Names.Requestor.self), "the requestor's id; all requestors if left out"
).completedByRequestors()

extension AdminClient {
  /// The given requestor, or all requestors if none is given.
  func requestors(_ one: RequestorID?) async throws(AdminError) -> [RequestorID] {
    if let one { return [one] }
    return try await requestors().map(\.id)
  }

  /// The given provider, or all providers if none is given.
  func providers(_ one: ProviderID?) async throws(AdminError) -> [ProviderID] {
    if let one { return [one] }
    return try await providers().map(\.id)
  }
}

extension Array {
  /// The elements sorted by time, the oldest first.
  ///
  /// Their ids are random, so the order of ids means nothing.
  func inOrder(of time: (Element) -> Instant) -> [Element] {
    // Entries of the same time keep their order, so that two calls print the same.
    enumerated().sorted { (time($0.element), $0.offset) < (time($1.element), $1.offset) }
      .map(\.element)
  }

  /// The entries of one requestor, which must exist, or of all if none is given.
  func of(
    _ requestor: RequestorID?, _ admin: AdminClient, _ owner: (Element) -> RequestorID
  ) async throws(AdminError) -> [Element] {
    guard let requestor else { return self }
    _ = try await admin.requestor(requestor)
    return filter { owner($0) == requestor }
  }
}
