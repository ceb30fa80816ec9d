public import RegentPairing

/// What this app may do with the box's platform account.
public enum PlatformPermission: String, Hashable, Sendable, CaseIterable {
  /// The viewer lets this app use it.
  case granted
  /// The viewer does not; an app never asks again.
  case denied
  /// Nobody has decided yet.
  case undetermined
}

/// What the box says of its platform account to this app.
public struct PlatformStatus: Hashable, Sendable {
  /// What this app may do with it.
  public var permission: PlatformPermission
  /// Whether somebody is signed in on the box.
  public var isSignedIn: Bool
  /// The id of the account's provider; only when the permission is granted.
  public var provider: String?
  /// The viewer, as the provider names it to the box; only when the permission is granted.
  public var viewer: String?
  /// When the box's sign-in ends; only when the permission is granted.
  public var expires: Instant?
  /// Why the account cannot be used although somebody is signed in, when that is so.
  public var failure: String?

  public init(
    permission: PlatformPermission, isSignedIn: Bool, provider: String? = nil, viewer: String? = nil,
    expires: Instant? = nil, failure: String? = nil
  ) {
    self.permission = permission
    self.isSignedIn = isSignedIn
    self.provider = provider
    self.viewer = viewer
    self.expires = expires
    self.failure = failure
  }
}

/// The viewer's answer to `presentTvProviderDialog`.
@nonexhaustive
public enum TvProviderAnswer: Hashable, Sendable {
  /// This provider.
  case provider(String)
  /// "Other TV providers": the app's own picker follows.
  case other
  /// The viewer went back.
  case cancel
}

/// What the machine asks the box's daemon.
enum PlatformQuestion: Hashable, Sendable {
  case status
  /// The same; the viewer is asked first when nobody has decided, and the answer held for so many seconds.
  case access(prompt: Bool, wait: Int64)
  /// The viewer is asked to sign the box out, and the answer held for so many seconds.
  case signOut(wait: Int64)
  /// The box's answer to a service's profile request.
  case assertion(profileRequest: String, provider: String)
  /// What the platform's dialog lists.
  case picker
  /// Signs the box itself in with that provider.
  case signIn(provider: String)
  /// What became of that sign-in since this event.
  case news(signIn: String, after: Int)
  /// This app does not wait for it any more.
  case leave(signIn: String)
}

/// What the daemon answered.
enum PlatformAnswer: Hashable, Sendable {
  /// Nobody listens, or this program is no app of the box.
  case absent
  /// It could not be asked: why.
  case silent(String)
  case status(PlatformStatus)
  /// What the service takes for the box's word.
  case assertion(String)
  /// The ids of the box maker's picker, in order.
  case picker([String])
  case code(signIn: String, after: Int, RegistrationOffer)
  case news(PlatformNews)
  /// It understood, and the answer is no.
  case refused(PlatformRefusal, String)
}

/// Why the daemon says no.
enum PlatformRefusal: String, Hashable, Sendable {
  case denied, undetermined
  case signedOut = "not-signed-in"
  /// Its own account failed.
  case account
  /// The account gives no word for that request.
  case assertion = "no-assertion"
  /// The box maker does not have that provider.
  case provider = "unknown-provider"
}

/// What became of the box's own sign-in.
struct PlatformNews: Hashable, Sendable {
  enum End: String, Hashable, Sendable { case authenticated, denied, expired, failed }
  var last: Int
  var match: Int?
  var isOpened = false
  var end: End?
}
