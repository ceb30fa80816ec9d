/// The answer to a device that asks about its code.
///
/// The order of the checks matters: an ended code must never be answered as pending, and an approved one never as
/// expired (better-auth-rs#77 and crush#3399 each got one of these wrong).
public enum DeviceAnswer: Hashable, Sendable {
  /// The viewer has not approved or denied the code yet.
  case pending
  /// The code is approved.
  ///
  /// The caller must still check that account, integration and keys are valid.
  case approved(Approval)
  /// The viewer denied the code.
  case denied
  /// The code expired; the device must request a new one.
  case expired
  /// There is no such code, or it is no longer stored.
  case unknown

  /// The answer for a code at this time.
  public init(_ flow: PairingFlow, at now: Instant) {
    switch flow.settled(at: now).state {
    case .offered, .opened, .claimed: self = .pending
    case .approved(let approval), .delivered(let approval, _): self = .approved(approval)
    case .expired:
      self = now < flow.expires + CodeLifetime.remembrance ? .expired : .unknown
    // After a denial, the device gets "denied" until the code's own expiry, then "unknown".
    case .denied: self = now < flow.expires ? .denied : .unknown
    case .withdrawn: self = .unknown
    }
  }
}

extension PairingFlow {
  /// The time from which the code's row can be deleted without changing any answer.
  public var forgettable: Instant { expires + CodeLifetime.remembrance }
}
