/// One thing that an enabler tells its app: the callbacks of ``EntitlementDelegate`` as values.
///
/// ``AccessEnabler/events`` delivers them in the same order as the delegate gets its callbacks.
@nonexhaustive
public enum EntitlementEvent: Hashable, Sendable {
  /// The configuration phase is over.
  case setRequestorComplete(EnablerStatus)
  /// Show a provider picker.
  case displayProviderDialog([MVPD])
  /// A registration code to show; `status(REGCODE)` says the same to delegates.
  case registrationCode(RegistrationOffer)
  /// A phone has opened the code; with number matching, the number to show.
  case phoneConnected(match: Int?)
  /// Load a URL in a browser.
  case navigateToUrl(String, useSecureSheet: Bool)
  /// Whether this device is signed in.
  case setAuthenticationStatus(AuthenticationStatus, EntitlementCode)
  /// A short media token.
  case setToken(MediaAccess)
  /// No token for a resource.
  case tokenRequestFailed(resource: String, EntitlementCode, description: String)
  /// The resources that may be watched.
  case preauthorizedResources([String])
  /// The provider that is selected or signed in with.
  case selectedProvider(MVPD?)
  /// A piece of metadata.
  case setMetadataStatus(Metadata, key: String, arguments: [String: String])
  /// A piece of news with a code.
  case status(EntitlementStatus)
  /// Data for the app's analytics.
  case sendTrackingData([String], TrackingEvent)
  /// The platform's picker must be shown.
  case presentTvProviderDialog(ProviderDialog)
  /// The platform's picker must be removed.
  case dismissTvProviderDialog(ProviderDialog)
}

extension EntitlementEvent {
  /// Calls the delegate's method for this event; events that only values can carry call none.
  func tell(_ delegate: any EntitlementDelegate) async {
    switch self {
    case .setRequestorComplete(let status): await delegate.setRequestorComplete(status)
    case .displayProviderDialog(let providers): await delegate.displayProviderDialog(providers)
    // Their texts are in the status that comes with them.
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
