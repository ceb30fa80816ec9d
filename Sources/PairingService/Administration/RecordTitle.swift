internal import RegentPairing

/// The name of a record for messages and the audit log, such as `requestor acme` or `account cable/anna`.
struct RecordTitle: CustomStringConvertible {
  /// The kind of the record, for example `account`.
  let kind: String
  /// The record's name, for example `cable/anna`.
  let name: String
  /// The requestor or provider to which the record belongs, such as `cable`; nil for a record that belongs to none.
  var owner: String?

  var description: String { "\(kind) \(name)" }

  static func requestor(_ id: RequestorID) -> RecordTitle {
    RecordTitle(kind: "requestor", name: id.text)
  }

  static func provider(_ id: ProviderID) -> RecordTitle {
    RecordTitle(kind: "provider", name: id.text)
  }

  static func integration(_ requestor: RequestorID, _ provider: ProviderID) -> RecordTitle {
    RecordTitle(kind: "integration", name: "\(requestor) \(provider)", owner: requestor.text)
  }

  static func account(_ provider: ProviderID, _ name: AccountName) -> RecordTitle {
    RecordTitle(kind: "account", name: "\(provider)/\(name)", owner: provider.text)
  }

  static func rule(_ id: EntitlementID) -> RecordTitle { RecordTitle(kind: "rule", name: id.text) }
}
