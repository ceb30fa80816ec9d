/// What an app hears from an ``AccessEnabler``.
///
/// The callbacks come one after another, in the order in which things happened, never on the thread of a call. A
/// delegate may call the enabler from within a callback. The next callback waits for the one before it, and nobody else
/// does.
///
/// A class with methods that are not `async` conforms, a `@MainActor` class is called on the main actor, an actor on
/// its own.
///
/// Five callbacks have no default. A box that shows registration codes needs ``status(_:)`` as well, which brings the
/// code (`REGCODE`); all others may be left out.
public protocol EntitlementDelegate: AnyObject, Sendable {
  /// The configuration phase is over; calls made meanwhile run now, in order.
  func setRequestorComplete(_ status: EnablerStatus) async

  /// Show a provider picker, then call ``AccessEnabler/setSelectedProvider(_:)``.
  func displayProviderDialog(_ providers: [MVPD]) async

  /// Whether this device is signed in; the code is empty when it is.
  func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) async

  /// A short media token and the resource it is for: playback may begin.
  func setToken(_ token: String, forResource resource: String) async

  /// No token for this resource; the description is the provider's own text, or empty.
  func tokenRequestFailed(
    _ resource: String, code: EntitlementCode, description: String) async

  /// A piece of news with a code; `REGCODE` brings the registration code to show.
  func status(_ status: EntitlementStatus) async

  /// Load a login or logout URL in a browser, watch for the redirect URL, then call `handleExternalURL`.
  func navigateToUrl(_ url: String) async

  /// The same for providers that want a browser sheet which the app cannot look into; only with `handleSVC`.
  func navigateToUrl(_ url: String, useSVC: Bool) async

  /// The resources that may be watched, out of those asked for.
  func preauthorizedResources(_ resources: [String]) async

  /// The provider that is selected or signed in with.
  func selectedProvider(_ provider: MVPD?) async

  /// A piece of metadata; the key is the operation (`METADATA_USER_META`, …), and the arguments are those of the call,
  /// so that answers can be matched.
  func setMetadataStatus(
    _ value: MetadataValue?, encrypted: Bool, forKey key: String, arguments: [String: String]) async

  /// The platform's picker must be shown; answer with ``AccessEnabler/answerTvProviderDialog(_:)``.
  ///
  /// An app that leaves this out, and reads no events either, gets `displayProviderDialog` in its place. A dialog
  /// without an answer counts as cancelled after ``EnablerTiming/dialog``.
  func presentTvProviderDialog(_ dialog: ProviderDialog) async

  /// The platform's picker must be removed.
  func dismissTvProviderDialog(_ dialog: ProviderDialog) async

  /// Data for the app's analytics.
  func sendTrackingData(_ data: [String], forEvent event: TrackingEvent) async
}

extension EntitlementDelegate {
  /// Does nothing.
  public func status(_ status: EntitlementStatus) {}
  /// Does nothing.
  public func navigateToUrl(_ url: String) {}
  /// Loads it like any other.
  public func navigateToUrl(_ url: String, useSVC: Bool) async { await navigateToUrl(url) }
  /// Does nothing.
  public func preauthorizedResources(_ resources: [String]) {}
  /// Does nothing.
  public func selectedProvider(_ provider: MVPD?) {}
  /// Does nothing.
  public func setMetadataStatus(
    _ value: MetadataValue?, encrypted: Bool, forKey key: String, arguments: [String: String]
  ) {}
  /// Has `displayProviderDialog` called in its place.
  public func presentTvProviderDialog(_ dialog: ProviderDialog) { UnhandledDialog.report?(dialog) }
  /// Does nothing.
  public func dismissTvProviderDialog(_ dialog: ProviderDialog) {}
  /// Does nothing.
  public func sendTrackingData(_ data: [String], forEvent event: TrackingEvent) {}
}

/// How the default of `presentTvProviderDialog` reaches its enabler.
enum UnhandledDialog {
  /// Set while a delegate is called that is the only listener.
  @TaskLocal static var report: (@Sendable (ProviderDialog) -> Void)?
}
