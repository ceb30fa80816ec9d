/// The state of a registration code, with the data of that state.
public enum PairingState: Hashable, Sendable {
  /// The device shows the code; no phone has opened its page.
  case offered
  /// A phone has opened the page of the code.
  case opened
  /// A signed-in session has claimed the code, until its lease ends.
  case claimed(ClaimLease)
  /// The viewer approved, and the authentication exists.
  case approved(Approval)
  /// The device has read the result of the approved code.
  case delivered(Approval, at: Instant)
  /// The viewer denied, or typed a wrong number.
  case denied(Denial)
  /// The code expired before it was approved.
  case expired
  /// The device or an operator withdrew the code, or a newer code replaced it.
  case withdrawn

  /// Whether the code can still be approved.
  public var isPending: Bool {
    switch self {
    case .offered, .opened, .claimed: true
    case .approved, .delivered, .denied, .expired, .withdrawn: false
    }
  }

  public var approval: Approval? {
    switch self {
    case .approved(let approval), .delivered(let approval, _): approval
    case .offered, .opened, .claimed, .denied, .expired, .withdrawn: nil
    }
  }

  /// The name of the code's state, without the data of that state.
  public var status: PairingStatus {
    switch self {
    case .offered: .offered
    case .opened: .opened
    case .claimed: .claimed
    case .approved: .approved
    case .delivered: .delivered
    case .denied: .denied
    case .expired: .expired
    case .withdrawn: .withdrawn
    }
  }
}

/// The name of a code's state, as documents, database rows, metrics and people see it.
public enum PairingStatus: String, Hashable, Sendable, CaseIterable {
  case offered, opened, claimed, approved, delivered, denied, expired, withdrawn
}

/// The person who watches: an account at a provider, or a guest of a temporary provider.
public struct Viewer: Hashable, Sendable {
  public let provider: ProviderID
  /// The viewer's account; nil for a guest of a temporary provider.
  public let account: AccountName?

  public init(provider: ProviderID, account: AccountName?) {
    self.provider = provider
    self.account = account
  }
}

/// A signed-in browser session that claims a code, and the viewer who is signed in there.
public struct Claimer: Hashable, Sendable {
  public let session: SessionID
  /// The viewer who is signed in in this session.
  public let viewer: Viewer

  public init(session: SessionID, viewer: Viewer) {
    self.session = session
    self.viewer = viewer
  }
}

/// A session's claim on a code.
///
/// Other sessions cannot claim the code until the lease ends.
public struct ClaimLease: Hashable, Sendable {
  /// How long a claim lasts without activity: 2 minutes.
  public static let span: Duration = .seconds(120)

  public let claimer: Claimer
  /// The time from which another session may claim the code.
  public let until: Instant

  public init(claimer: Claimer, until: Instant) {
    self.claimer = claimer
    self.until = until
  }
}

/// The actor that approved a code.
public enum Approver: Hashable, Sendable {
  /// The code was approved in the phone's browser session that held the claim.
  case session(SessionID)
  /// An operator approved the code through the admin socket.
  case `operator`(OperatorName)
}

/// The approval of a code.
///
/// A code can get only one.
public struct Approval: Hashable, Sendable {
  /// The viewer who is signed in on the device.
  public let viewer: Viewer
  /// The id of the authentication that this approval created.
  public let authentication: AuthenticationID
  public let by: Approver
  public let at: Instant

  public init(viewer: Viewer, authentication: AuthenticationID, by: Approver, at: Instant) {
    self.viewer = viewer
    self.authentication = authentication
    self.by = by
    self.at = at
  }
}

/// The denial of a code.
public struct Denial: Hashable, Sendable {
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The viewer pressed "deny" on the phone.
    case viewer
    /// The viewer typed a number other than the box's: by mistake, or because they cannot see the screen and guess.
    case wrongNumber
  }

  public let reason: Reason
  public let at: Instant

  public init(reason: Reason, at: Instant) {
    self.reason = reason
    self.at = at
  }
}
