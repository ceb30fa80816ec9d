/// An event that an enabler reports to its app: the callbacks of ``EntitlementDelegate`` as values.
///
/// ``AccessEnabler/events`` delivers them in the order in which the delegate gets its callbacks.
@nonexhaustive
public enum EntitlementEvent: Hashable, Sendable {
  /// The configuration of `setRequestor` has ended.
  case setRequestorComplete(EnablerStatus)
  /// The app must show its own provider picker.
  case displayProviderDialog([MVPD])
  /// A registration code to show.
  ///
  /// Delegates get it with the status `REGCODE`.
  case registrationCode(RegistrationOffer)
  /// A phone has opened the page of the registration code.
  ///
  /// With number matching, `match` is the number to show.
  case phoneConnected(match: Int?)
  /// The app must load a URL in a browser.
  case navigateToUrl(String, useSecureSheet: Bool)
  /// Reports whether this device is signed in.
  case setAuthenticationStatus(AuthenticationStatus, EntitlementCode)
  /// Delivers a short-lived media token.
  case setToken(MediaAccess)
  /// Authorization of the resource failed.
  case tokenRequestFailed(resource: String, EntitlementCode, description: String)
  /// Delivers those of the requested resources that the viewer may watch.
  case preauthorizedResources([String])
  /// Delivers the provider that the viewer selected or signed in with; nil if there is none.
  case selectedProvider(MVPD?)
  /// Delivers a piece of metadata.
  case setMetadataStatus(Metadata, key: String, arguments: [String: String])
  /// A status with a code, such as `REGCODE`.
  case status(EntitlementStatus)
  /// Data for the app's analytics.
  case sendTrackingData([String], TrackingEvent)
  /// The app must show the picker for the box's shared account (the platform account).
  case presentTvProviderDialog(ProviderDialog)
  /// The app must remove the picker for the box's shared account.
  case dismissTvProviderDialog(ProviderDialog)
}

extension EntitlementEvent {
  /// Calls the delegate's callback for this event, if there is one.
  func tell(_ delegate: any EntitlementDelegate) async {
    switch self {
    case .setRequestorComplete(let status): await delegate.setRequestorComplete(status)
    case .displayProviderDialog(let providers): await delegate.displayProviderDialog(providers)
    // The delegate gets the content of these events with the statuses `REGCODE` and `REGCODE_OPENED` or
    // `REGCODE_MATCH`.
    case .registrationCode, .phoneConnected: break
    case .navigateToUrl(let url, false): await delegate.navigateToUrl(url)
    case .navigateToUrl(let url, true): await delegate.navigateToUrl(url, useSVC: true)
    case .setAuthenticationStatus(let status, let code):
      await delegate.setAuthenticationStatus(status, code: code)
    case .setToken(let access): await delegate.setToken(access.token, forResource: access.resource)
    case .tokenRequestFailed(let resource, let code, let description):
      await delegate.tokenRequestFailed(resource, code: code, description: description)
    case .preauthorizedResources(let resources): await delegate.preauthorizedResources(resources)
    case .selectedProvider(let provider): await delegate.selectedProvider(provider)
    case .setMetadataStatus(let metadata, let key, let arguments):
      await delegate.setMetadataStatus(
        metadata.value, encrypted: metadata.isEncrypted, forKey: key, arguments: arguments)
    case .status(let status): await delegate.status(status)
    case .sendTrackingData(let data, let event): await delegate.sendTrackingData(data, forEvent: event)
    case .presentTvProviderDialog(let dialog): await delegate.presentTvProviderDialog(dialog)
    case .dismissTvProviderDialog(let dialog): await delegate.dismissTvProviderDialog(dialog)
    }
  }
}
