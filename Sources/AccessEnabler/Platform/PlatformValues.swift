public import RegentPairing

/// Whether this app may use the box's platform account.
public enum PlatformPermission: String, Hashable, Sendable, CaseIterable {
  /// The viewer allows it.
  case granted
  /// The viewer denies it.
  ///
  /// The enabler does not ask again.
  case denied
  /// The viewer has not decided yet.
  case undetermined
}

/// The status of the box's platform account, as the box reports it to this app.
public struct PlatformStatus: Hashable, Sendable {
  public var permission: PlatformPermission
  /// Whether the box is signed in.
  public var isSignedIn: Bool
  /// The id of the account's provider; only when the permission is granted.
  public var provider: String?
  /// The viewer's id, as the provider gives it to the box; only when the permission is granted.
  public var viewer: String?
  /// When the box's sign-in ends; only when the permission is granted.
  public var expires: Instant?
  /// Why the account cannot be used although the box is signed in; nil if it can be used.
  ///
  /// In the responses of ``PlatformAccount`` this includes settings of the service that exclude this app alone.
  public var failure: String?
  /// Why the service lets this app not use the account, as the box knows it.
  ///
  /// The enabler does not need it: it has the service's configuration.
  var refusal: String?

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
  /// The viewer chose the provider with this id.
  case provider(String)
  /// The viewer chose "Other TV providers".
  ///
  /// The app's own picker follows.
  case other
  /// The viewer left the dialog.
  case cancel
}

/// A question to the box's daemon.
enum PlatformQuestion: Hashable, Sendable {
  case status
  /// As `status`.
  ///
  /// With `prompt`, the box asks the viewer who has not decided, and holds the answer for up to `wait` seconds.
  case access(prompt: Bool, wait: Int64)
  /// Asks the viewer to sign the box out, and holds the answer for up to `wait` seconds.
  case signOut(wait: Int64)
  /// Requests the box's assertion for a service's profile request.
  case assertion(profileRequest: String, provider: String)
  /// Requests the providers of the platform's dialog.
  case picker
  /// Signs the box itself in with this provider.
  case signIn(provider: String)
  /// Waits for news of that sign-in after the given event number.
  case news(signIn: String, after: Int)
  /// Tells the box that this app no longer waits for that sign-in.
  case leave(signIn: String)
}

enum PlatformAnswer: Hashable, Sendable {
  /// No daemon listens, or this program is not one of the box's apps.
  case absent
  /// The daemon could not be asked, with the reason.
  case silent(String)
  case status(PlatformStatus)
  /// The box's assertion, which the service accepts.
  case assertion(String)
  /// The provider ids of the platform's dialog, in order.
  case picker([String])
  case code(signIn: String, after: Int, RegistrationOffer)
  case news(PlatformNews)
  /// The daemon refuses, with a message.
  case refused(PlatformRefusal, String)
}

/// Why the daemon refuses.
enum PlatformRefusal: String, Hashable, Sendable {
  case denied, undetermined
  case signedOut = "not-signed-in"
  /// The box's own account failed.
  case account
  /// The account makes no assertion for this request.
  case assertion = "no-assertion"
  /// The box maker's requestor does not have this provider.
  case provider = "unknown-provider"
}

/// The progress of the box's own sign-in.
struct PlatformNews: Hashable, Sendable {
  enum End: String, Hashable, Sendable { case authenticated, denied, expired, failed }
  var last: Int
  var match: Int?
  var isOpened = false
  var end: End?
}
