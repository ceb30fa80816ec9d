public import RegentJSON
public import RegentPairing

/// An entry of the audit log.
public struct AuditLine: AdminDocument, Codable, Hashable {
  /// The entry's number.
  ///
  /// Numbers have no gaps, so a deleted entry is noticed.
  public let number: Int64
  public let at: Instant
  /// Who caused the entry: `operator root`, `viewer cable/anna`, `device acme` or `service`.
  public let actor: String
  /// The stable name of the action, for example `code.approve`.
  public let action: String
  /// The id of the record that the action was about.
  public let subject: String
  /// How the action ended: `done`, `refused` or `failed`.
  public let outcome: String
  /// More information about the action in plain words; never a secret.
  @Ruled<Detail> public private(set) var detail: String

  public init(
    number: Int64, at: Instant, actor: String, action: String, subject: String, outcome: String,
    detail: String
  ) {
    self.number = number
    self.at = at
    self.actor = actor
    self.action = action
    self.subject = subject
    self.outcome = outcome
    self.detail = detail
  }
}

/// The rule for a text member of a document that may be empty.
///
/// A missing member is read as empty, and an empty text is left out when it is written.
public enum Detail: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> String {
    try object.optionalString(name) ?? ""
  }

  public static func json(_ text: String) -> JSONValue? { text.isEmpty ? nil : .string(text) }
}
