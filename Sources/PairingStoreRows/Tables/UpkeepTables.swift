import RegentCryptography
internal import RegentEncodings
import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

extension Tables {
  static let screenNames = Table<ScreenName>(
    "screen_name", .column("screen_hash", \.screen), .column("name", \.name), make: ScreenName.init)

  static let numbers = Table<NumbersRecord>(
    "numbers", .column("id", \.id), .column("text", \.text), make: NumbersRecord.init)

  static let loginFailures = Table<CountedFailures>(
    "login_failure", indexes: [Index("last", on: "last")], .column("subject", \.subject),
    .column("failures", \.failures.count),
    .column("last", \.failures.last)
  ) { subject, count, last in
    CountedFailures(subject: subject, failures: LoginFailures(count: count, last: last))
  }

  static let audit = Table<NumberedAuditEntry>(
    "audit", .column("number", \.number), .column("at", \.entry.at),
    .column("actor", PseudonymisedLine.column, read: PseudonymisedLine.actor),
    .column("action", \.entry.action), .column("subject", \.entry.subject), .column("outcome", \.entry.outcome),
    .column("detail", \.entry.detail)
  ) { number, at, actor, action, subject, outcome, detail in
    NumberedAuditEntry(
      number: number,
      entry: AuditEntry(
        at: at, actor: actor.0, action: action, subject: subject, outcome: outcome, detail: detail),
      firstSignature: actor.firstSignature)
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
