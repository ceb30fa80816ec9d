import RegentCryptography
internal import RegentEncodings
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
      .integer(line.number), .integer(line.entry.at.milliseconds), PseudonymisedLine.column(of: line),
      .text(line.entry.action), .text(line.entry.subject), .text(line.entry.outcome.rawValue),
      .text(line.entry.detail),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let (number, at) = (try fields.number(), try fields.instant())
    let (actor, firstSignature) = try PseudonymisedLine.actor(of: fields.json())
    return NumberedAuditEntry(
      number: number,
      entry: AuditEntry(
        at: at, actor: actor, action: try fields.text(), subject: try fields.text(), outcome: try fields.choice(),
        detail: try fields.text()), firstSignature: firstSignature)
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
  /// It is a JSON list, so that two subjects never have the same key. It has a keyed hash in place of the name, because
  /// a viewer may have typed a password into the field for the name. Rows of earlier versions have the name; they are
  /// not used any more, and are deleted after a day.
  func key(_ vault: Vault) -> String {
    let parts =
      switch self {
      case .account(let provider, let name): ["account", vault.loginHash(provider, name)]
      case .accountFrom(let source, let provider, let name):
        ["account-from", source.text, vault.loginHash(provider, name)]
      case .source(let source): ["source", source.text]
      }
    return String(decoding: JSONValue.list(parts).bytes(), as: UTF8.self)
  }
}

extension Vault {
  /// The hash that stands for an account name, known or not, in the counters of failed sign-ins.
  func loginHash(_ provider: ProviderID, _ name: AccountName) -> String {
    var fields = FramedFields(purpose: "login_failure.name", version: 1)
    fields.append(provider.text)
    fields.append(name.text)
    return Hex.encode(records.code(fields.bytes))
  }
}
