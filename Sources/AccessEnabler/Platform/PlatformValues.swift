public import RegentPairing

/// Whether this app may use the box's shared account (the platform account).
public enum PlatformPermission: String, Hashable, Sendable, CaseIterable {
  /// The viewer allows this app to use the box's account.
  case granted
  /// The viewer denies this app the box's account. The enabler does not ask again.
  case denied
  /// The viewer has not decided yet whether this app may use the box's account.
  case undetermined
}

/// The status of the box's shared account (the platform account), as the box reports it to this app.
public struct PlatformStatus: Hashable, Sendable {
  public var permission: PlatformPermission
  /// Whether the box is signed in.
  public var isSignedIn: Bool
  /// The id of the provider at which the box is signed in; nil unless this app's permission is granted.
  public var provider: String?
  /// The viewer's id, as the provider gives it to the box; nil unless this app's permission is granted.
  public var viewer: String?
  /// When the box's sign-in ends; nil unless this app's permission is granted.
  public var expires: Instant?
  /// Why the account cannot be used although the box is signed in; nil if it can be used.
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
  /// The viewer chose the provider with this id.
  case provider(String)
  /// The viewer chose "Other TV providers" in the picker. The app's own picker follows.
  case other
  /// The viewer left the picker.
  case cancel
}

/// A question to the box's daemon.
enum PlatformQuestion: Hashable, Sendable {
  case status
  /// Asks whether this app may use the box's shared account.
  ///
  /// With `prompt`, the box asks a viewer who has not decided yet, and holds the answer for up to `wait` seconds.
  case access(prompt: Bool, wait: Int64)
  /// Asks the viewer to sign the box out, and holds the answer for up to `wait` seconds.
  case signOut(wait: Int64)
  /// Requests the box's assertion, its signed answer to a challenge of the service (the profile request).
  case assertion(profileRequest: String, provider: String)
  /// Requests the providers that the picker for the box's shared account lists.
  case picker
  /// Signs the box itself in with this provider.
  case signIn(provider: String)
  /// Waits for the progress of the box's sign-in after the given event number.
  case news(signIn: String, after: Int)
  /// Tells the box that this app no longer waits for the box's sign-in.
  case leave(signIn: String)
}

enum PlatformAnswer: Hashable, Sendable {
  /// No daemon listens on the box, or this program is not one of the box's apps.
  case absent
  /// The daemon could not be asked. Contains the reason.
  case silent(String)
  case status(PlatformStatus)
  /// The box's assertion, its signed answer to the service's challenge.
  case assertion(String)
  /// The ids of the providers in the picker for the box's shared account, in order.
  case picker([String])
  case code(signIn: String, after: Int, RegistrationOffer)
  case news(PlatformNews)
  /// The daemon refuses the question, with a message.
  case refused(PlatformRefusal, String)
}

/// Why the daemon refuses a question.
enum PlatformRefusal: String, Hashable, Sendable {
  case denied, undetermined
  case signedOut = "not-signed-in"
  /// The box's own account failed.
  case account
  /// The box signs no assertion for this challenge of a service.
  case assertion = "no-assertion"
  /// The requestor with which the box itself signs in does not have this provider.
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
