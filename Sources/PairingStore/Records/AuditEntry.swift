public import RegentPairing

/// One line of the audit log: the actor, the action, its object, the time and the result.
///
/// It never holds a secret.
public struct AuditEntry: Hashable, Sendable {
  public enum Actor: Hashable, Sendable {
    /// The audited action was taken by an operator who is connected to the admin socket.
    case `operator`(OperatorName)
    /// The audited action was taken by a viewer in a phone's browser.
    case viewer(Viewer)
    /// The audited action was taken by a device.
    ///
    /// The requestor is the one whose key signed the device's request.
    case device(RequestorID)
    /// The service itself took the audited action, without a request from an operator, viewer or device.
    case service
  }

  /// How the audited action ended.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    case done
    /// The action was refused by the service.
    case refused
    /// The action was allowed and failed.
    case failed
  }

  public let at: Instant
  public let actor: Actor
  /// The action's stable name, such as `code.approve`, `key.revoke` or `row.tampered`.
  public let action: String
  /// The id of the record that the audited action was about.
  public let subject: String
  public let outcome: Outcome
  /// Further facts about the action for the reader of the log, as plain text.
  public let detail: String

  public init(
    at: Instant, actor: Actor, action: String, subject: String, outcome: Outcome = .done,
    detail: String = ""
  ) {
    self.at = at
    self.actor = actor
    self.action = action
    self.subject = subject
    self.outcome = outcome
    self.detail = detail
  }
}

/// An audit line with its number.
///
/// Numbers are given without gaps in the order of writing, so a deleted line leaves a visible gap.
public struct NumberedAuditEntry: Hashable, Sendable {
  /// The line's number; the first line of the log has number 1.
  public let number: Int64
  public let entry: AuditEntry
  /// The signature that the line had before a viewer's name in it was replaced by a pseudonym; nil if none was
  /// replaced.
  ///
  /// The replacement signs the line again. The hash chain of the log is made of the first signatures, so it stays
  /// valid.
  public let firstSignature: [UInt8]?

  public init(number: Int64, entry: AuditEntry, firstSignature: [UInt8]? = nil) {
    self.number = number
    self.entry = entry
    self.firstSignature = firstSignature
  }
}
