public import RegentJSON
public import RegentPairing

/// One line of the audit log.
public struct AuditLine: AdminDocument, Codable, Hashable {
  /// Its number; they have no gaps, so that a missing line shows.
  public let number: Int64
  public let at: Instant
  /// Who: `operator root`, `viewer cable/anna`, `device acme`, `service`.
  public let actor: String
  /// What, as a stable name such as `code.approve`.
  public let action: String
  /// To what, by its id.
  public let subject: String
  /// `done`, `refused` or `failed`.
  public let outcome: String
  /// What else helps, in plain words; never a secret.
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

/// What is left out when there is nothing to say.
public enum Detail: MemberRule {
  public static func read(_ name: String, of object: JSONObject) throws(JSONShapeError) -> String {
    try object.optionalString(name) ?? ""
  }

  public static func json(_ text: String) -> JSONValue? { text.isEmpty ? nil : .string(text) }
}
