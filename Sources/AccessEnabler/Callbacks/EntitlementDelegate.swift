/// Receives the callbacks of an ``AccessEnabler``.
///
/// The enabler calls one callback at a time, in the order of the events, and never on the thread of a call. The next
/// callback waits until the one before it returns. No other part of the enabler waits for a callback. A delegate may
/// call the enabler within a callback.
///
/// A class may conform with methods that are not `async`. The methods of a `@MainActor` class run on the main actor,
/// those of an actor on that actor.
///
/// Five callbacks have no default implementation. A box that shows registration codes also implements ``status(_:)``,
/// which delivers the code (`REGCODE`). All others are optional.
public protocol EntitlementDelegate: AnyObject, Sendable {
  /// The configuration has ended.
  ///
  /// Calls that the app made during the configuration run now, in order.
  func setRequestorComplete(_ status: EnablerStatus) async

  /// The app must show a provider picker, then call ``AccessEnabler/setSelectedProvider(_:)``.
  func displayProviderDialog(_ providers: [MVPD]) async

  /// Reports whether this device is signed in.
  ///
  /// If this device is signed in, `code` is empty.
  func setAuthenticationStatus(_ status: AuthenticationStatus, code: EntitlementCode) async

  /// Delivers a short-lived media token for a resource.
  ///
  /// The app may start playing it.
  func setToken(_ token: String, forResource resource: String) async

  /// Authorization of the resource failed.
  ///
  /// `description` is the provider's message for the viewer, or empty.
  func tokenRequestFailed(
    _ resource: String, code: EntitlementCode, description: String) async

  /// Delivers a status with a code.
  ///
  /// `REGCODE` contains the registration code to show.
  func status(_ status: EntitlementStatus) async

  /// The app must load this sign-in or sign-out URL in a browser, and call `handleExternalURL` at the redirect URL.
  func navigateToUrl(_ url: String) async

  /// As ``navigateToUrl(_:)``, for providers that require a browser sheet which the app cannot read.
  ///
  /// Called only if the app has set the option `handleSVC`.
  func navigateToUrl(_ url: String, useSVC: Bool) async

  /// Delivers those of the requested resources that the viewer may watch.
  func preauthorizedResources(_ resources: [String]) async

  /// Delivers the provider that is selected or signed in with; nil if there is none.
  func selectedProvider(_ provider: MVPD?) async

  /// Delivers a piece of metadata.
  ///
  /// `key` is the operation (`METADATA_USER_META`, …). `arguments` are those of the call, so that the app can match
  /// the answer to it.
  func setMetadataStatus(
    _ value: MetadataValue?, encrypted: Bool, forKey key: String, arguments: [String: String]) async

  /// The app must show the picker for the box's shared account (the platform account), and answer with
  /// ``AccessEnabler/answerTvProviderDialog(_:)``.
  ///
  /// If the app does not implement this callback and reads no events, `displayProviderDialog` is called in its place. A
  /// dialog without an answer counts as cancelled after ``EnablerTiming/dialog``.
  func presentTvProviderDialog(_ dialog: ProviderDialog) async

  /// The app must remove the picker that `presentTvProviderDialog` made it show.
  func dismissTvProviderDialog(_ dialog: ProviderDialog) async

  /// Delivers data for the app's analytics.
  func sendTrackingData(_ data: [String], forEvent event: TrackingEvent) async
}

extension EntitlementDelegate {
  /// By default, an app ignores statuses.
  public func status(_ status: EntitlementStatus) {}
  /// By default, an app opens no page.
  public func navigateToUrl(_ url: String) {}
  /// Calls ``navigateToUrl(_:)``.
  public func navigateToUrl(_ url: String, useSVC: Bool) async { await navigateToUrl(url) }
  /// By default, an app ignores the result of a preauthorization.
  public func preauthorizedResources(_ resources: [String]) {}
  /// By default, an app ignores the selected provider.
  public func selectedProvider(_ provider: MVPD?) {}
  /// By default, an app ignores metadata.
  public func setMetadataStatus(
    _ value: MetadataValue?, encrypted: Bool, forKey key: String, arguments: [String: String]
  ) {}
  /// By default, makes the enabler call `displayProviderDialog` in place of this dialog.
  public func presentTvProviderDialog(_ dialog: ProviderDialog) { UnhandledDialog.report?(dialog) }
  /// By default, an app has no such dialog to remove.
  public func dismissTvProviderDialog(_ dialog: ProviderDialog) {}
  /// By default, an app collects no analytics.
  public func sendTrackingData(_ data: [String], forEvent event: TrackingEvent) {}
}

/// Tells the enabler that its delegate does not implement `presentTvProviderDialog`.
enum UnhandledDialog {
  /// The function that the default implementation of `presentTvProviderDialog` calls.
  ///
  /// The function is set only while the delegate is called and no event stream is read.
  @TaskLocal static var report: (@Sendable (ProviderDialog) -> Void)?
}
