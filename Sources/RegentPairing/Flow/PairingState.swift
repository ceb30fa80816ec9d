/// The state of a registration code, with what belongs to that state.
public enum PairingState: Hashable, Sendable {
  /// The device shows it; nobody has come yet.
  case offered
  /// A phone has the page open.
  case opened
  /// A signed-in session has it, for as long as its lease runs.
  case claimed(ClaimLease)
  /// The viewer agreed; the one authentication exists.
  case approved(Approval)
  /// The device has read its answer.
  case delivered(Approval, at: Instant)
  /// The viewer refused, or typed a wrong number.
  case denied(Denial)
  /// Its time ran out before anybody approved.
  case expired
  /// The device, an operator or a newer code took it back.
  case withdrawn

  /// Whether it can still be approved.
  public var isPending: Bool {
    switch self {
    case .offered, .opened, .claimed: true
    case .approved, .delivered, .denied, .expired, .withdrawn: false
    }
  }

  /// The approval, once there is one.
  public var approval: Approval? {
    switch self {
    case .approved(let approval), .delivered(let approval, _): approval
    case .offered, .opened, .claimed, .denied, .expired, .withdrawn: nil
    }
  }

  /// The name of the place, without what belongs to it.
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

/// The name of a state: what records, rows, metrics and people see.
public enum PairingStatus: String, Hashable, Sendable, CaseIterable {
  case offered, opened, claimed, approved, delivered, denied, expired, withdrawn
}

/// Who watches: an account at a provider, or a guest whom a temporary provider lets in without one.
public struct Viewer: Hashable, Sendable {
  /// The provider that vouches.
  public let provider: ProviderID
  /// The account there; none at a temporary provider.
  public let account: AccountName?

  /// A viewer at a provider; without an account a guest.
  public init(provider: ProviderID, account: AccountName?) {
    self.provider = provider
    self.account = account
  }
}

/// A signed-in phone browser that takes a code, and as whom.
public struct Claimer: Hashable, Sendable {
  /// The browser's session.
  public let session: SessionID
  /// Whom it signed in as.
  public let viewer: Viewer

  /// A session that is signed in as a viewer.
  public init(session: SessionID, viewer: Viewer) {
    self.session = session
    self.viewer = viewer
  }
}

/// A claim and how long it keeps others off.
public struct ClaimLease: Hashable, Sendable {
  /// How long a claim lasts without activity: 2 minutes.
  public static let span: Duration = .seconds(120)

  /// Who holds it.
  public let claimer: Claimer
  /// From when on the next session may take the code.
  public let until: Instant

  /// A claim until a point in time.
  public init(claimer: Claimer, until: Instant) {
    self.claimer = claimer
    self.until = until
  }
}

/// Who said yes.
public enum Approver: Hashable, Sendable {
  /// A phone browser that held the claim.
  case session(SessionID)
  /// Somebody at the admin socket.
  case `operator`(OperatorName)
}

/// The one yes that a code can get.
public struct Approval: Hashable, Sendable {
  /// Who will watch.
  public let viewer: Viewer
  /// The authentication that this approval created.
  public let authentication: AuthenticationID
  /// Who said yes.
  public let by: Approver
  public let at: Instant

  /// An approval, with the authentication that goes with it.
  public init(viewer: Viewer, authentication: AuthenticationID, by: Approver, at: Instant) {
    self.viewer = viewer
    self.authentication = authentication
    self.by = by
    self.at = at
  }
}

/// A no.
public struct Denial: Hashable, Sendable {
  /// Why a code was denied.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The viewer said no.
    case viewer
    /// The viewer typed another number than the box shows: a slip, or a guess by somebody who sees no screen.
    case wrongNumber
  }

  /// Why.
  public let reason: Reason
  public let at: Instant

  public init(reason: Reason, at: Instant) {
    self.reason = reason
    self.at = at
  }
}
