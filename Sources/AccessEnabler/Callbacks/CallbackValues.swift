/// Whether the configuration succeeded, as `setRequestorComplete` reports it.
public enum EnablerStatus: Int, Hashable, Sendable {
  /// The configuration failed (`ACCESS_ENABLER_STATUS_ERROR`).
  case error = 0
  /// The configuration succeeded (`ACCESS_ENABLER_STATUS_SUCCESS`).
  case success = 1
}

/// Whether this device is signed in, as `setAuthenticationStatus` reports it.
public enum AuthenticationStatus: Int, Hashable, Sendable {
  case notAuthenticated = 0
  case authenticated = 1
}

/// The error codes of the original API for `setAuthenticationStatus` and `tokenRequestFailed`.
public struct EntitlementCode: RawRepresentable, Hashable, Sendable {
  /// The code as the original API documents it.
  public let rawValue: String

  /// Creates a code from its text, which need not be one of the codes that this type names.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `USER_AUTHENTICATED`: no error.
  ///
  /// Its text is empty.
  public static let userAuthenticated = EntitlementCode(rawValue: "")
  /// This device has no valid sign-in.
  public static let userNotAuthenticated = EntitlementCode(
    rawValue: "USER_NOT_AUTHENTICATED_ERROR")
  /// The viewer left the provider picker, or the sign-in was cancelled.
  public static let providerNotSelected = EntitlementCode(rawValue: "PROVIDER_NOT_SELECTED_ERROR")
  /// Signing in failed: the network is down, the viewer denied on the phone, or the call was cancelled.
  public static let genericAuthentication = EntitlementCode(
    rawValue: "GENERIC_AUTHENTICATION_ERROR")
  /// The viewer may not watch the resource.
  public static let userNotAuthorized = EntitlementCode(rawValue: "USER_NOT_AUTHORIZED_ERROR")
  /// Authorizing failed: the network is down or the service is out of order.
  public static let genericAuthorization = EntitlementCode(
    rawValue: "GENERIC_AUTHORIZATION_ERROR")
  /// The request itself is invalid, for example because of a malformed resource.
  public static let internalAuthorization = EntitlementCode(
    rawValue: "INTERNAL_AUTHORIZATION_ERROR")
}

/// The analytics events of `sendTrackingData`.
///
/// Each case lists its data in the documented order.
@nonexhaustive
public enum TrackingEvent: Hashable, Sendable {
  /// Reports a sign-in. Its data, in order: success, provider id, GUID, from cache, device type, client type, OS.
  case authentication
  /// Reports an authorization. Its data, in order: success, provider id, GUID, from cache, error, details, device type,
  /// client type, OS.
  case authorization
  /// Reports the selected provider. Its data, in order: provider id, device type, client type, OS.
  case selectedProvider

  /// The event's name in the original API.
  public var name: String {
    switch self {
    case .authentication: "TRACKING_AUTHENTICATION"
    case .authorization: "TRACKING_AUTHORIZATION"
    case .selectedProvider: "TRACKING_GET_SELECTED_PROVIDER"
    }
  }
}

/// What the picker for the box's shared account (the platform account) lists.
///
/// A terminal or any UI toolkit can draw it.
public struct ProviderDialog: Hashable, Sendable {
  /// The heading of the picker.
  public var title: String
  /// The providers that the picker lists, in the order to show.
  public var providers: [MVPD]
  /// The providers that the picker shows first, taken from ``providers``.
  public var featured: [MVPD]
  /// Whether the picker must offer a choice that leads to the app's own picker.
  public var offersOthers: Bool

  public init(title: String, providers: [MVPD], featured: [MVPD] = [], offersOthers: Bool = true) {
    self.title = title
    self.providers = providers
    self.featured = featured
    self.offersOthers = offersOthers
  }
}

/// The URL to which a browser sign-in redirects at its end, unless the app sets another (`ADOBEPASS_REDIRECT_URL`).
public let defaultRedirectURL = "adobepass://ios.app"
