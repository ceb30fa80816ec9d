import Administration
import CommandKit
import RegentHTTPCodec
import RegentJSON
import RegentPairing

/// A time as people and programs read it: RFC 3339 in UTC.
func shown(_ instant: Instant) -> String {
  CivilDate.text(epochMilliseconds: instant.milliseconds, fraction: false)
}

/// A time that may be unknown.
func shown(_ instant: Instant?) -> String { instant.map(shown) ?? "-" }

/// The hour and the minute of a time, in UTC.
func shownClock(_ instant: Instant) -> String {
  let minutes = Int(instant.milliseconds / 60_000 % 1_440)
  return [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : String($0) }.joined(separator: ":")
}

/// Yes or no as it is typed.
func shown(_ bool: Bool) -> String { bool ? "on" : "off" }

/// A list in one cell.
func shown(_ texts: [String]) -> String {
  texts.isEmpty ? "-" : texts.joined(separator: " ")
}

/// A viewer, or that there is none.
func shown(_ provider: ProviderID?, _ account: AccountName?) -> String {
  guard let provider else { return "-" }
  return account.map { "\(provider)/\($0)" } ?? provider.text
}

/// One record as lines: what it is on the left, what it says on the right.
func details(_ rows: KeyValuePairs<String, String?>) -> [String] {
  let width = rows.map { displayWidth($0.key) }.max() ?? 0
  return rows.compactMap { label, value in
    guard let value else { return nil }
    return label + String(repeating: " ", count: width + 2 - displayWidth(label)) + value
  }
}

extension Table.Column {
  /// Ids that commands take whole or by their beginning.
  static func id(_ heading: String) -> Table.Column {
    Table.Column(heading, .id(shortest: IDPrefix.shortest))
  }
}

extension AdminDocument {
  /// The document with the id under which commands find it, in front of everything else.
  func json(under id: String) -> JSONValue {
    var object: JSONObject = ["id": .string(id)]
    for member in self.object.members where member.name != "id" { object[member.name] = member.value }
    return .object(object)
  }
}

extension SignIn {
  /// The document of a box: `id` is the box's, and the sign-in's own stands beside it.
  var boxJSON: JSONValue {
    var object: JSONObject = ["id": .string(device), "signIn": .string(id.text)]
    for member in self.object.members where member.name != "id" { object[member.name] = member.value }
    return .object(object)
  }
}

extension Invocation {
  /// Says what became of a record.
  func show<Record>(_ saved: Saved<Record>, _ what: String) {
    show(saved.json, lines: ["\(what) \(saved.outcome.rawValue)"])
  }

  /// Answers with a list.
  ///
  /// - Parameters:
  ///   - list: what it has.
  ///   - id: what the commands of the same noun take for an entry: the member `id` of each document. None where no
  ///     command takes one.
  ///   - columns: the table's head.
  ///   - row: the table's cells for an entry.
  func show<Entry: AdminDocument>(
    list: [Entry], id: ((Entry) -> String)?, _ columns: [Table.Column], _ row: (Entry) -> [String]
  ) {
    show(list: list, json: { entry in id.map { entry.json(under: $0(entry)) } ?? entry.json }, columns, row)
  }

  /// Answers with a list whose documents are made here.
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

  /// Says that something was done; programs get it as a document.
  func say(_ sentence: String, _ document: JSONObject) {
    show(.object(document), lines: [sentence])
  }
}

/// The flag that says yes beforehand.
let yes = Input.flag("yes", "do not ask for confirmation")

/// Whose entries a list shows; all of them when it is left out.
let optionalRequestor = Input.optionalArgument(
  "REQUESTOR", identifier("ID", Names.Requestor.self), "the requestor's id; all requestors if left out"
).completedByRequestors()

extension AdminClient {
  /// Whose entries a list shows: those of one requestor, or of all.
  func requestors(_ one: RequestorID?) async throws(AdminError) -> [RequestorID] {
    if let one { return [one] }
    return try await requestors().map(\.id)
  }

  /// The same with providers.
  func providers(_ one: ProviderID?) async throws(AdminError) -> [ProviderID] {
    if let one { return [one] }
    return try await providers().map(\.id)
  }
}

extension Array {
  /// The oldest first, as far as lists have a time: ids are drawn, and their order says nothing.
  func inOrder(of time: (Element) -> Instant) -> [Element] {
    // The place decides between two of one moment, so that two calls say the same.
    enumerated().sorted { (time($0.element), $0.offset) < (time($1.element), $1.offset) }
      .map(\.element)
  }

  /// The entries of one requestor, which must be there; all of them when none is named.
  func of(
    _ requestor: RequestorID?, _ admin: AdminClient, _ owner: (Element) -> RequestorID
  ) async throws(AdminError) -> [Element] {
    guard let requestor else { return self }
    _ = try await admin.requestor(requestor)
    return filter { owner($0) == requestor }
  }
}
