/// What a device is told when it asks about its code.
///
/// The order of the checks is the rule: a code that is over is never answered as pending, and one that was approved is
/// never answered as expired (better-auth-rs#77, crush#3399 got one of the two wrong).
public enum DeviceAnswer: Hashable, Sendable {
  /// Not yet.
  case pending
  /// Yes: this authentication, if account, integration and keys still stand.
  case approved(Approval)
  /// No.
  case denied
  /// Too late; ask for a new code.
  case expired
  /// No such code, or not any more.
  case unknown

  /// The answer for a code in this state at this time.
  public init(_ flow: PairingFlow, at now: Instant) {
    switch flow.settled(at: now).state {
    case .offered, .opened, .claimed: self = .pending
    case .approved(let approval), .delivered(let approval, _): self = .approved(approval)
    case .expired:
      self = now < flow.expires + CodeLifetime.remembrance ? .expired : .unknown
    // A no is remembered until the code's own expiry, as if the code still lay on the table.
    case .denied: self = now < flow.expires ? .denied : .unknown
    case .withdrawn: self = .unknown
    }
  }
}

extension PairingFlow {
  /// From when on nothing is lost when the row is forgotten.
  public var forgettable: Instant { expires + CodeLifetime.remembrance }
}
