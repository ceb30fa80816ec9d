import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let screenNames = Table<ScreenName>(
    "screen_name", [.bytes("screen_hash"), .text("name")]
  ) { one, _ in
    [.blob(one.screen.bytes), .text(one.name)]
  } decode: { fields, _ throws(UnreadableRow) in
    ScreenName(screen: try fields.hash(), name: try fields.text())
  }

  static let numbers = Table<NumbersRecord>("numbers", [.text("id"), .text("text")]) { kept, _ in
    [.text(kept.id), .text(kept.text)]
  } decode: { fields, _ throws(UnreadableRow) in
    NumbersRecord(id: try fields.text(), text: try fields.text())
  }

  static let loginFailures = Table<CountedFailures>(
    "login_failure", [.text("subject"), .number("failures"), .number("last")]
  ) { one, _ in
    [
      .text(one.subject), .integer(Int64(one.failures.count)),
      .integer(one.failures.last.milliseconds),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    CountedFailures(
      subject: try fields.text(),
      failures: LoginFailures(
        count: try present(Int(exactly: fields.number())), last: try fields.instant()))
  }

  static let audit = Table<NumberedAuditEntry>(
    "audit",
    [
      .number("number"), .number("at"), .text("actor"), .text("action"), .text("subject"),
      .text("outcome"), .text("detail"),
    ]
  ) { line, _ in
    [
      .integer(line.number), .integer(line.entry.at.milliseconds), line.entry.actor.column,
      .text(line.entry.action), .text(line.entry.subject), .text(line.entry.outcome.rawValue),
      .text(line.entry.detail),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    NumberedAuditEntry(
      number: try fields.number(),
      entry: AuditEntry(
        at: try fields.instant(), actor: try AuditEntry.Actor(column: fields.json()),
        action: try fields.text(), subject: try fields.text(), outcome: try fields.choice(),
        detail: try fields.text()))
  }
}

struct ScreenName: Sendable {
  let screen: ScreenHash
  let name: String
}

/// A stored text that the service keeps across restarts, such as counters.
struct NumbersRecord: Sendable {
  let id: String
  let text: String

  /// The key of the text's row: the kind, and after a space the node.
  ///
  /// Node names contain no spaces.
  static func id(_ kind: StoredCounters, _ node: NodeID?) -> String {
    node.map { "\(kind.rawValue) \($0.text)" } ?? kind.rawValue
  }
}

struct CountedFailures: Sendable {
  /// The key of the row that holds the highest count among all deleted counters.
  ///
  /// No account or source address has this key.
  static let others = "[\"others\"]"

  let subject: String
  let failures: LoginFailures
}

extension LoginSubject {
  /// The key of the row that counts the subject's failures.
  ///
  /// It is a JSON list, so that two subjects never have the same key.
  var key: String {
    let parts =
      switch self {
      case .account(let provider, let name): ["account", provider.text, name.text]
      case .accountFrom(let source, let provider, let name):
        ["account-from", source.text, provider.text, name.text]
      case .source(let source): ["source", source.text]
      }
    return String(decoding: JSONValue.list(parts).bytes(), as: UTF8.self)
  }
}

extension AuditEntry.Actor {
  fileprivate var column: SQLValue {
    let parts =
      switch self {
      case .operator(let name): ["operator", name.text]
      case .viewer(let viewer):
        ["viewer", viewer.provider.text] + (viewer.account.map { [$0.text] } ?? [])
      case .device(let requestor): ["device", requestor.text]
      case .service: ["service"]
      }
    return JSONValue.list(parts).column
  }

  fileprivate init(column: JSONValue) throws(UnreadableRow) {
    let parts = try column.texts()
    switch (parts.first, parts.count) {
    case ("operator", 2): self = .operator(try present(OperatorName(parts[1])))
    case ("viewer", 2):
      self = .viewer(Viewer(provider: try present(ProviderID(parts[1])), account: nil))
    case ("viewer", 3):
      self = .viewer(
        Viewer(
          provider: try present(ProviderID(parts[1])), account: try present(AccountName(parts[2]))))
    case ("device", 2): self = .device(try present(RequestorID(parts[1])))
    case ("service", 1): self = .service
    default: throw UnreadableRow()
    }
  }
}
