/// A device's sign-in: the first of the three tokens.
public struct Authentication: Hashable, Sendable {
  public let id: AuthenticationID
  /// The requestor whose app is signed in.
  public let requestor: RequestorID
  public let viewer: Viewer
  /// The household of the viewer's account at sign-in; nil if it had none.
  public let household: HouseholdID?
  /// The profile (set of lifetimes and limits) of the integration that the app asked for.
  public let profile: ProfileName?
  public let source: AuthenticationSource
  public let issued: Instant
  public let expires: Instant
  /// The box's own sign-in from which this app sign-in was made, if any.
  ///
  /// The app sign-in ends when the box's does.
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

/// The box's own sign-in from which an app's sign-in was made, and the name by which the box knows the app.
public struct ParentSignIn: Hashable, Sendable {
  public let id: AuthenticationID
  public let app: String

  public init(_ id: AuthenticationID, app: String) {
    self.id = id
    self.app = app
  }
}

/// How a device was signed in.
public enum AuthenticationSource: String, Hashable, Sendable, CaseIterable {
  /// A viewer approved a registration code.
  case regular
  /// A temporary pass signed the device in without an account.
  case temporary
  /// The provider was out of order, and an operator had every viewer signed in (a degradation).
  case degraded
  /// The viewer allowed the app to use the box's own account.
  case platform
}

/// The conditions, besides the expiry, under which an authentication is valid at this moment.
///
/// They are checked at approval, when the device fetches the authentication, and at each later use. If an account is
/// locked between approval and fetching, the device must get nothing (Keycloak CVE-2026-88770 fixed one of several such
/// places).
public struct AuthenticationValidity: Hashable, Sendable {
  /// The state of the viewer's account.
  ///
  /// It is ``AccountStanding/good`` for guests and for degraded sign-ins, which have no account.
  public var account: AccountStanding
  /// Whether requestor and provider have an integration.
  public var integrated: Bool
  /// Whether the integration of requestor and provider is switched off.
  ///
  /// An operator may switch it on again.
  public var switchedOff: Bool
  /// Whether rows signed with this key pair of the requestor are still valid.
  public var keyHonoured: Bool
  /// Whether the box's sign-in from which this app sign-in was made is valid and may be used.
  ///
  /// True if there is none.
  public var parentStands: Bool

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

/// Whether a viewer's account may be used.
public enum AccountStanding: Hashable, Sendable {
  /// The account may sign in, or no account is needed.
  case good
  /// An operator disabled the account.
  case disabled
  /// The account no longer exists.
  case gone
}

/// Why an authentication (the sign-in of a device) is not valid.
public enum AuthenticationRefusal: Error, Hashable, Sendable {
  case expired
  case accountDisabled
  case accountGone
  /// The integration of requestor and provider was removed.
  case notIntegrated
  /// The integration of requestor and provider is switched off.
  case switchedOff
  /// The key pair that signs the requestor's rows was revoked.
  case keyRevoked
  /// The box's own sign-in has ended, or the viewer no longer allows this app to use it.
  case parentEnded
}

extension Authentication {
  /// Whether the authentication has not expired yet.
  ///
  /// ``AuthenticationValidity`` holds the other conditions.
  public func isValid(at now: Instant) -> Bool { now < expires }
}

extension AuthenticationValidity {
  /// Throws the reason why a sign-in may not be made or used, if one of the conditions does not hold.
  public func check() throws(AuthenticationRefusal) {
    guard keyHonoured else { throw .keyRevoked }
    guard integrated else { throw .notIntegrated }
    guard parentStands else { throw .parentEnded }
    // If several conditions fail, report a permanent end before a state that an operator can undo.
    guard account != .gone else { throw .accountGone }
    guard !switchedOff else { throw .switchedOff }
    guard account != .disabled else { throw .accountDisabled }
  }
}

extension AuthenticationRefusal {
  /// Whether an operator can undo the cause.
  ///
  /// Sign-ins and grants that depend on this sign-in then pause and do not end.
  public var isPause: Bool {
    switch self {
    case .switchedOff, .accountDisabled: true
    case .expired, .accountGone, .notIntegrated, .keyRevoked, .parentEnded: false
    }
  }
}

extension AuthenticationRefusal: CustomStringConvertible {
  /// A sentence that tells the viewer what is wrong and what to do about it.
  public var description: String {
    switch self {
    case .expired: "the sign-in has expired: sign in again"
    // Part of the protocol: boxes compare this text.
    case .accountDisabled: "the account is disabled at the provider: signing in again will not help"
    // The sign-in may have had no account. Then it ended with the temporary pass, or with the degradation: an
    // operator's order to sign in every viewer while the provider was out of order.
    case .accountGone:
      "the account or pass of this sign-in no longer exists: sign in again"
    case .notIntegrated, .switchedOff: "this app may not use this provider: the integration is off or was removed"
    case .parentEnded: "the box's own sign-in has ended, or may not be used by this app: sign in again"
    case .keyRevoked: "the app's key was revoked: sign in again"
    }
  }
}
