public import RegentPairing

/// One line of the audit log: who did what to what, when, how it ended, and never a secret.
public struct AuditEntry: Hashable, Sendable {
  /// Who acted.
  public enum Actor: Hashable, Sendable {
    /// Somebody at the admin socket.
    case `operator`(OperatorName)
    /// A viewer on the phone.
    case viewer(Viewer)
    /// A device.
    case device(RequestorID)
    /// The service by itself.
    case service
  }

  /// How it ended.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// Done.
    case done
    /// Not allowed.
    case refused
    /// Could not be done.
    case failed
  }

  public let at: Instant
  public let actor: Actor
  /// What, as a stable name: `code.approve`, `key.revoke`, `row.tampered`.
  public let action: String
  /// To what, by its id.
  public let subject: String
  /// How it ended.
  public let outcome: Outcome
  /// What else helps whoever reads it, in plain words.
  public let detail: String

  /// One line.
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

/// A line as it was kept: numbered without gaps in the order of writing, so that a missing one shows.
public struct NumberedAuditEntry: Hashable, Sendable {
  /// Its number, from 1.
  public let number: Int64
  /// The line.
  public let entry: AuditEntry

  /// A line with its number.
  public init(number: Int64, entry: AuditEntry) {
    self.number = number
    self.entry = entry
  }
}
