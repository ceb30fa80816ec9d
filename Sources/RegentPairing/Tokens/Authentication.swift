/// A device that is signed in: the first of the three tokens.
public struct Authentication: Hashable, Sendable {
  /// Its own id.
  public let id: AuthenticationID
  /// For whose app.
  public let requestor: RequestorID
  /// Who watches.
  public let viewer: Viewer
  /// The viewer's household, when the account had one.
  public let household: HouseholdID?
  /// The integration's profile that the app asked for.
  public let profile: ProfileName?
  /// How it came about.
  public let source: AuthenticationSource
  /// When it was made.
  public let issued: Instant
  /// When it ends.
  public let expires: Instant
  /// What it stands on besides its account: it ends with that.
  public let parent: ParentSignIn?

  public init(
    id: AuthenticationID, requestor: RequestorID, viewer: Viewer, household: HouseholdID?,
    profile: ProfileName?, source: AuthenticationSource, issued: Instant, expires: Instant,
    parent: ParentSignIn? = nil
  ) {
    self.id = id
    self.requestor = requestor
    self.viewer = viewer
    self.household = household
    self.profile = profile
    self.source = source
    self.issued = issued
    self.expires = expires
    self.parent = parent
  }
}

/// The box's own sign-in that an app's came from, and by which name the box knows the app.
public struct ParentSignIn: Hashable, Sendable {
  public let id: AuthenticationID
  public let app: String

  public init(_ id: AuthenticationID, app: String) {
    self.id = id
    self.app = app
  }
}

/// How a device came to be signed in.
public enum AuthenticationSource: String, Hashable, Sendable, CaseIterable {
  /// A viewer approved a code.
  case regular
  /// A temporary provider let it in.
  case temporary
  /// The provider was out of order and everybody is let in.
  case degraded
  /// The box's own account, which the viewer lets this app use.
  case platform
}

/// What else must hold, besides the expiry, for an authentication to count at this moment.
///
/// Checked at approval, at pick-up and at every later use: an account that is locked between approval and pick-up must
/// get nothing (Keycloak CVE-2026-88770 fixed one of several places).
public struct Standing: Hashable, Sendable {
  /// Where the viewer's account is; none for guests and degraded sign-ins.
  public var account: AccountStanding
  /// Whether requestor and provider are integrated now.
  public var integrated: Bool
  /// Whether their integration is switched off; it may be switched on again.
  public var switchedOff: Bool
  /// Whether the rows of the requestor's key pair are still honoured.
  public var keyHonoured: Bool
  /// Whether the box's own sign-in, which it came from, stands and may be used; so it does where there is none.
  public var parentStands: Bool

  /// All that must hold, as found at one moment.
  public init(
    account: AccountStanding, integrated: Bool, switchedOff: Bool = false, keyHonoured: Bool, parentStands: Bool = true
  ) {
    self.account = account
    self.integrated = integrated
    self.switchedOff = switchedOff
    self.keyHonoured = keyHonoured
    self.parentStands = parentStands
  }
}

/// Whether an account may be used.
public enum AccountStanding: Hashable, Sendable {
  /// It may sign in, or none is needed.
  case good
  /// An operator disabled it.
  case disabled
  /// It does not exist any more.
  case gone
}

/// Why an authentication does not count.
public enum AuthenticationRefusal: Error, Hashable, Sendable {
  /// Its time is up.
  case expired
  /// Its account was disabled.
  case accountDisabled
  /// Its account was removed.
  case accountGone
  /// The integration was removed.
  case notIntegrated
  /// The integration is switched off.
  case switchedOff
  /// The key that signs its requestor's rows was revoked.
  case keyRevoked
  /// The box's own sign-in has ended, or its viewer does not let this app use it any more.
  case parentEnded
}

extension Authentication {
  /// Whether its time has not run out; whether it stands is another question.
  public func isValid(at now: Instant) -> Bool { now < expires }
}

extension Standing {
  /// Whether a sign-in with this standing may be made or used.
  public func check() throws(AuthenticationRefusal) {
    guard keyHonoured else { throw .keyRevoked }
    guard integrated else { throw .notIntegrated }
    guard parentStands else { throw .parentEnded }
    // An end is told before a pause.
    guard account != .gone else { throw .accountGone }
    guard !switchedOff else { throw .switchedOff }
    guard account != .disabled else { throw .accountDisabled }
  }
}

extension AuthenticationRefusal {
  /// Whether an operator may let it count again, as it is: what stands on it waits for that, and does not end.
  public var isPause: Bool {
    switch self {
    case .switchedOff, .accountDisabled: true
    case .expired, .accountGone, .notIntegrated, .keyRevoked, .parentEnded: false
    }
  }
}

extension AuthenticationRefusal: CustomStringConvertible {
  /// What is wrong and what to do about it.
  public var description: String {
    switch self {
    case .expired: "the sign-in has expired: sign in again"
    case .accountDisabled: "the account is disabled at the provider: signing in again will not help"
    // A sign-in without an account ends as well: with the emergency that let everybody in, or with its temporary pass.
    case .accountGone:
      "the account or pass of this sign-in no longer exists: sign in again"
    case .notIntegrated, .switchedOff: "this app may not use this provider: the integration is off or was removed"
    case .parentEnded: "the box's own sign-in has ended, or may not be used by this app: sign in again"
    case .keyRevoked: "the app's key was revoked: sign in again"
    }
  }
}
