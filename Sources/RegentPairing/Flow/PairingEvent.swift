/// What can happen to a registration code.
public enum PairingEvent: Hashable, Sendable {
  /// The phone's page is there.
  case open
  /// A signed-in session takes the code; again by the same one, it keeps it.
  case claim(Claimer)
  /// The page of the session that holds the claim shows activity.
  case renew(SessionID)
  /// The viewer went back or signed out.
  case release(SessionID)
  /// The viewer says yes; `picked` is the number typed, when the device asked for matching.
  case approve(SessionID, picked: Int?, as: AuthenticationID)
  /// An operator says yes for a viewer, from any pending state and whatever the number.
  case approveByOperator(OperatorName, for: Viewer, as: AuthenticationID)
  /// The viewer says no.
  case deny(SessionID)
  /// The code is taken back. An authentication that exists already is not touched by it.
  case withdraw(WithdrawalReason)
  /// The device reads its answer.
  case deliver
}

/// Who takes a code back.
public enum WithdrawalReason: String, Hashable, Sendable, CaseIterable {
  /// The device deleted it.
  case device
  /// An operator withdrew it.
  case `operator`
  /// The device asked for a new one.
  case newerCode
}

/// What an event did: the flow after it and what is to be done about it.
public struct PairingStep: Hashable, Sendable {
  /// The flow after the event.
  public let flow: PairingFlow
  /// What goes with it, in order; empty when nobody but the caller notices.
  public let actions: [PairingAction]

  init(_ flow: PairingFlow, _ actions: [PairingAction]) {
    self.flow = flow
    self.actions = actions
  }
}

/// What is to be done about a change.
public enum PairingAction: Hashable, Sendable {
  /// The one authentication comes into being: the store writes it in the same transaction as the change.
  case createAuthentication(Approval)
  /// Answer the device that waits, once the change is durable.
  case wakeDevice
  /// Answer the phone page that waits, once the change is durable.
  case wakePhone
}

/// Why an event may not happen; the flow is as it was.
public enum PairingRefusal: Error, Hashable, Sendable {
  /// Its time ran out.
  case expired
  /// It was taken back.
  case withdrawn
  /// It was denied.
  case denied
  /// It was approved before: a code is redeemed once.
  case alreadyApproved
  /// Nobody has approved it yet.
  case notApproved
  /// Nobody holds a claim on it.
  case notClaimed
  /// Another session holds the claim, until then.
  case claimedByAnother(until: Instant)
  /// The claim is another session's.
  case notTheClaimer
  /// The claim was this session's and has run out.
  case leaseLapsed
  /// The device asked for number matching and none was typed.
  case numberMissing
}

extension PairingRefusal: CustomStringConvertible {
  /// What is wrong and what to do about it.
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
