public import RegentJSON
public import RegentPairing

/// One line of the audit log.
public struct AuditLine: AdminDocument, Hashable {
  /// Its number; they have no gaps, so that a missing line shows.
  public let number: Int64
  /// When.
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
  public let detail: String

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

  /// Reads a line.
  public init(_ object: JSONObject) throws(JSONShapeError) {
    self.init(
      number: try object.int64("number"), at: try object.instant("at"),
      actor: try object.string("actor"), action: try object.string("action"),
      subject: try object.string("subject"), outcome: try object.string("outcome"),
      detail: try object.optionalString("detail") ?? "")
  }

  /// The line as it is sent.
  public var object: JSONObject {
    var object = JSONObject()
    object["number"] = .integer(number)
    object.set("at", at)
    object.set("actor", actor)
    object.set("action", action)
    object.set("subject", subject)
    object.set("outcome", outcome)
    object.set("detail", detail.isEmpty ? nil : detail)
    return object
  }
}
