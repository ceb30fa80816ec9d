/// An event that can change the state of a registration code.
public enum PairingEvent: Hashable, Sendable {
  /// A phone has opened the page of the code.
  case open
  /// A signed-in browser session claims the code, or extends the claim that it holds.
  case claim(Claimer)
  /// The page of the session that holds the claim reports activity, which extends the lease.
  case renew(SessionID)
  /// The viewer went back or signed out, so the claim ends.
  case release(SessionID)
  /// The viewer approves the code on the phone.
  ///
  /// `picked` is the number that the viewer typed, if the device requires number matching.
  case approve(SessionID, picked: Int?, as: AuthenticationID)
  /// An operator approves the code on a viewer's behalf, in any pending state and without number matching.
  case approveByOperator(OperatorName, for: Viewer, as: AuthenticationID)
  /// The viewer denies the code on the phone.
  case deny(SessionID)
  /// The code is withdrawn.
  ///
  /// An authentication that was already created stays valid.
  case withdraw(WithdrawalReason)
  /// The device reads the result of the code.
  case deliver
}

/// Why a code is withdrawn.
public enum WithdrawalReason: String, Hashable, Sendable, CaseIterable {
  /// The device deleted the code.
  case device
  /// An operator withdrew the code.
  case `operator`
  /// The device requested a new code, which replaces this one.
  case newerCode
}

/// The result of an event: the new state, and the actions that the caller must carry out.
public struct PairingStep: Hashable, Sendable {
  public let flow: PairingFlow
  /// The actions in the order in which to carry them out.
  ///
  /// Empty if neither the device nor the phone must be notified.
  public let actions: [PairingAction]

  init(_ flow: PairingFlow, _ actions: [PairingAction]) {
    self.flow = flow
    self.actions = actions
  }
}

/// An action that the caller must carry out after a state change.
public enum PairingAction: Hashable, Sendable {
  /// Store the authentication, in the same transaction as the state change.
  case createAuthentication(Approval)
  /// Answer the device's long poll, after the change is durable in the database.
  case wakeDevice
  /// Answer the phone page's long poll, after the change is durable in the database.
  case wakePhone
}

/// Why a registration code refuses an event.
///
/// The code's state does not change.
public enum PairingRefusal: Error, Hashable, Sendable {
  /// The event is refused because the code has expired.
  case expired
  /// The event is refused because the code was withdrawn.
  case withdrawn
  /// The event is refused because the code was denied.
  case denied
  /// The code was already approved.
  ///
  /// A code can be redeemed once.
  case alreadyApproved
  /// The device asks for the result, but the code is still pending.
  case notApproved
  /// The event needs a claim, but no session has claimed the code.
  case notClaimed
  /// Another session holds the claim, until the given time.
  case claimedByAnother(until: Instant)
  /// The event needs the claim, but another session holds it.
  case notTheClaimer
  /// This session had claimed the code, but the time of its claim (the lease) is over.
  case leaseLapsed
  /// The device requires number matching and the viewer typed no number.
  case numberMissing
}

extension PairingRefusal: CustomStringConvertible {
  /// Tells the viewer what is wrong and what to do about it.
  public var description: String {
    switch self {
    case .expired: "the code has expired: get a new one on the screen"
    case .withdrawn: "the code was withdrawn: use the one that the screen shows now"
    case .denied: "the code was denied: get a new one on the screen"
    case .alreadyApproved: "the code has been approved already"
    case .notApproved: "the code has not been approved yet"
    case .notClaimed: "the code has not been opened yet: sign in first"
    case .claimedByAnother: "another phone is using this code: try again in two minutes"
    case .notTheClaimer: "the code is in use by another browser: enter it again here"
    case .leaseLapsed: "the page was left alone for too long: enter the code again"
    case .numberMissing: "choose the number that the screen shows"
    }
  }
}
