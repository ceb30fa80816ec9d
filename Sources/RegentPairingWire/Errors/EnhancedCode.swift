/// The enhanced error codes of the V1 protocol.
public enum EnhancedCode: String, Hashable, Sendable, CaseIterable {
  // MARK: Codes with the action `none`: the app cannot do anything.
  case invalidRequestor = "invalid_requestor"
  case invalidDeviceInfo = "invalid_device_info"
  case invalidDeviceID = "invalid_device_id"
  case missingResource = "missing_resource"
  case malformedAuthorizationRequest = "malformed_authz_request"
  case preauthorizationDeniedByProvider = "preauthorization_denied_by_mvpd"
  case authorizationDeniedByProvider = "authorization_denied_by_mvpd"
  case authorizationDeniedByParentalControls = "authorization_denied_by_parental_controls"
  case authorizationDeniedByDegradationRule = "authorization_denied_by_degradation_rule"
  case internalError = "internal_error"
  // Codes with the action `configuration`: the operator must change the configuration.
  case unknownIntegration = "unknown_integration"
  case tooManyResources = "too_many_resources"
  // Codes with the action `authentication`: the viewer must sign in again.
  case authenticationSessionIssuerMismatch = "authentication_session_issuer_mismatch"
  case authorizationDeniedByHomeBasedPolicies = "authorization_denied_by_hba_policies"
  case authorizationDeniedBySessionInvalidated = "authorization_denied_by_session_invalidated"
  case identityNotRecognizedByProvider = "identity_not_recognized_by_mvpd"
  case authenticationSessionInvalidated = "authentication_session_invalidated"
  case authenticationSessionMissing = "authentication_session_missing"
  case authenticationSessionExpired = "authentication_session_expired"
  case preauthorizationSessionMissing = "preauthorization_authentication_session_missing"
  case preauthorizationSessionExpired = "preauthorization_authentication_session_expired"
  case temporaryAccessDurationExceeded = "temporary_access_duration_limit_exceeded"
  case temporaryAccessResourcesExceeded = "temporary_access_resources_limit_exceeded"
  // Codes with the action `authorization`: the app must request authorization again.
  case authorizationNotFound = "authorization_not_found"
  case authorizationExpired = "authorization_expired"
  // Codes with the action `retry`: the app may retry.
  case networkReceivedError = "network_received_error"
  case networkConnectionTimeout = "network_connection_timeout"
  case maximumExecutionTimeExceeded = "maximum_execution_time_exceeded"

  /// What the app can do about an error.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// There is nothing that the app can do about the error.
    case none
    /// The operator must change the configuration.
    case configuration
    /// The app must register its client again.
    case applicationRegistration = "application-registration"
    /// The viewer must sign in again.
    case authentication
    /// The app must request authorization again.
    case authorization
    /// The app may send the request again.
    case retry
  }

  public var action: Action {
    switch self {
    case .invalidRequestor, .invalidDeviceInfo, .invalidDeviceID, .missingResource,
      .malformedAuthorizationRequest, .preauthorizationDeniedByProvider,
      .authorizationDeniedByProvider, .authorizationDeniedByParentalControls,
      .authorizationDeniedByDegradationRule, .internalError:
      .none
    case .unknownIntegration, .tooManyResources: .configuration
    case .authenticationSessionIssuerMismatch, .authorizationDeniedByHomeBasedPolicies,
      .authorizationDeniedBySessionInvalidated, .identityNotRecognizedByProvider,
      .authenticationSessionInvalidated, .authenticationSessionMissing,
      .authenticationSessionExpired, .preauthorizationSessionMissing,
      .preauthorizationSessionExpired, .temporaryAccessDurationExceeded,
      .temporaryAccessResourcesExceeded:
      .authentication
    case .authorizationNotFound, .authorizationExpired: .authorization
    case .networkReceivedError, .networkConnectionTimeout, .maximumExecutionTimeExceeded: .retry
    }
  }

  /// The HTTP statuses that responses with this code may have.
  ///
  /// If there are several, the endpoint chooses.
  public var statuses: Set<Int> {
    switch self {
    case .invalidRequestor, .invalidDeviceInfo, .invalidDeviceID,
      .authenticationSessionIssuerMismatch:
      [400]
    case .missingResource, .malformedAuthorizationRequest, .unknownIntegration: [400, 412]
    case .internalError: [400, 405, 500]
    case .authenticationSessionMissing, .authenticationSessionExpired: [403, 412]
    case .preauthorizationSessionMissing, .preauthorizationSessionExpired: [412]
    case .authorizationNotFound: [403, 404]
    case .authorizationExpired: [410]
    case .preauthorizationDeniedByProvider, .authorizationDeniedByProvider,
      .authorizationDeniedByParentalControls, .authorizationDeniedByDegradationRule,
      .tooManyResources, .authorizationDeniedByHomeBasedPolicies,
      .authorizationDeniedBySessionInvalidated, .identityNotRecognizedByProvider,
      .authenticationSessionInvalidated, .temporaryAccessDurationExceeded,
      .temporaryAccessResourcesExceeded, .networkReceivedError, .networkConnectionTimeout,
      .maximumExecutionTimeExceeded:
      [403]
    }
  }
}
