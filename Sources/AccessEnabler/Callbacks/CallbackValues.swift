/// What `setRequestorComplete` reports.
public enum EnablerStatus: Int, Hashable, Sendable {
  /// The configuration phase ended without a configuration (`ACCESS_ENABLER_STATUS_ERROR`).
  case error = 0
  /// The configuration phase ended well (`ACCESS_ENABLER_STATUS_SUCCESS`).
  case success = 1
}

/// What `setAuthenticationStatus` reports.
public enum AuthenticationStatus: Int, Hashable, Sendable {
  /// Not signed in.
  case notAuthenticated = 0
  /// Signed in.
  case authenticated = 1
}

/// The historic error codes of `setAuthenticationStatus` and `tokenRequestFailed`.
public struct EntitlementCode: RawRepresentable, Hashable, Sendable {
  /// The code as documented.
  public let rawValue: String

  /// A code, also one that is not among those below.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `USER_AUTHENTICATED`: no error, an empty text.
  public static let userAuthenticated = EntitlementCode(rawValue: "")
  /// There is no valid token.
  public static let userNotAuthenticated = EntitlementCode(
    rawValue: "USER_NOT_AUTHENTICATED_ERROR")
  /// The viewer went back from the picker, or the sign-in was cancelled.
  public static let providerNotSelected = EntitlementCode(rawValue: "PROVIDER_NOT_SELECTED_ERROR")
  /// Network down, cancelled, denied on the phone.
  public static let genericAuthentication = EntitlementCode(
    rawValue: "GENERIC_AUTHENTICATION_ERROR")
  /// The viewer may not watch this.
  public static let userNotAuthorized = EntitlementCode(rawValue: "USER_NOT_AUTHORIZED_ERROR")
  /// Network down, service out of order.
  public static let genericAuthorization = EntitlementCode(
    rawValue: "GENERIC_AUTHORIZATION_ERROR")
  /// The request itself cannot be answered, for example a malformed resource.
  public static let internalAuthorization = EntitlementCode(
    rawValue: "INTERNAL_AUTHORIZATION_ERROR")
}

/// What `sendTrackingData` reports, with its data in the documented order.
@nonexhaustive
public enum TrackingEvent: Hashable, Sendable {
  /// [ok, provider id, GUID, from cache, device type, client type, OS]
  case authentication
  /// [ok, provider id, GUID, from cache, error, details, device type, client type, OS]
  case authorization
  /// [provider id, device type, client type, OS]
  case selectedProvider

  /// The name as documented.
  public var name: String {
    switch self {
    case .authentication: "TRACKING_AUTHENTICATION"
    case .authorization: "TRACKING_AUTHORIZATION"
    case .selectedProvider: "TRACKING_GET_SELECTED_PROVIDER"
    }
  }
}

/// A dialog of the platform's account, which a terminal or any toolkit can draw.
public struct ProviderDialog: Hashable, Sendable {
  /// What stands above it.
  public var title: String
  /// The providers, in order.
  public var providers: [MVPD]
  /// Those of them to show first.
  public var featured: [MVPD]
  /// Whether the viewer may choose to see the app's own picker instead.
  public var offersOthers: Bool

  public init(title: String, providers: [MVPD], featured: [MVPD] = [], offersOthers: Bool = true) {
    self.title = title
    self.providers = providers
    self.featured = featured
    self.offersOthers = offersOthers
  }
}

/// The URL that a browser login ends at unless the app has one of its own (`ADOBEPASS_REDIRECT_URL`).
public let defaultRedirectURL = "adobepass://ios.app"
