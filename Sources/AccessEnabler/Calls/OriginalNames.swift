// The names of the AccessEnabler of other platforms, where one of ours can bear them: an app that is ported compiles,
// and the compiler says what the name is here. docs/porting.md has them all.

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EnablerStatus.success")
public let ACCESS_ENABLER_STATUS_SUCCESS = EnablerStatus.success
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EnablerStatus.error")
public let ACCESS_ENABLER_STATUS_ERROR = EnablerStatus.error

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EntitlementCode.userAuthenticated")
public let USER_AUTHENTICATED = EntitlementCode.userAuthenticated
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EntitlementCode.userNotAuthenticated")
public let USER_NOT_AUTHENTICATED_ERROR = EntitlementCode.userNotAuthenticated
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EntitlementCode.providerNotSelected")
public let PROVIDER_NOT_SELECTED_ERROR = EntitlementCode.providerNotSelected
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EntitlementCode.genericAuthentication")
public let GENERIC_AUTHENTICATION_ERROR = EntitlementCode.genericAuthentication
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EntitlementCode.userNotAuthorized")
public let USER_NOT_AUTHORIZED_ERROR = EntitlementCode.userNotAuthorized
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EntitlementCode.genericAuthorization")
public let GENERIC_AUTHORIZATION_ERROR = EntitlementCode.genericAuthorization
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "EntitlementCode.internalAuthorization")
public let INTERNAL_AUTHORIZATION_ERROR = EntitlementCode.internalAuthorization

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.operation")
public let METADATA_OPCODE_KEY = MetadataArgument.operation
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.resource")
public let METADATA_RESOURCE_ID_KEY = MetadataArgument.resource
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.userKey")
public let METADATA_USER_META_KEY = MetadataArgument.userKey
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.authentication")
public let METADATA_AUTHENTICATION = MetadataArgument.authentication
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.authorization")
public let METADATA_AUTHORIZATION = MetadataArgument.authorization
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.deviceID")
public let METADATA_DEVICE_ID = MetadataArgument.deviceID
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.userMetadata")
public let METADATA_USER_META = MetadataArgument.userMetadata

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "TrackingEvent.authentication")
public let TRACKING_AUTHENTICATION = TrackingEvent.authentication
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "TrackingEvent.authorization")
public let TRACKING_AUTHORIZATION = TrackingEvent.authorization
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "TrackingEvent.selectedProvider")
public let TRACKING_GET_SELECTED_PROVIDER = TrackingEvent.selectedProvider

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "defaultRedirectURL")
public let ADOBEPASS_REDIRECT_URL = defaultRedirectURL

extension MVPD {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  @available(*, deprecated, renamed: "id")
  public var ID: String { id }
}

extension AccessEnabler {
  /// Signs in with data for the service.
  @available(*, deprecated, renamed: "getAuthentication(force:data:)")
  public func getAuthentication(_ force: Bool, withData data: [String: String]) {
    getAuthentication(force: force, data: data)
  }

  /// Signs in with data for the service, after a picker that shows these providers.
  @available(*, deprecated, renamed: "getAuthentication(force:data:filter:)")
  public func getAuthentication(_ force: Bool, withData data: [String: String], andFilter filter: [String: [String]]) {
    getAuthentication(force: force, data: data, filter: ProviderFilter(filter))
  }

  /// Authorizes a resource for whoever is signed in.
  @available(*, deprecated, renamed: "checkAuthorization(_:data:)")
  public func checkAuthorization(_ resource: String, withData data: [String: String]) {
    checkAuthorization(resource, data: data)
  }

  /// Authorizes a resource, and signs in first when that is needed.
  @available(*, deprecated, renamed: "getAuthorization(_:data:)")
  public func getAuthorization(_ resource: String, withData data: [String: String]) {
    getAuthorization(resource, data: data)
  }
}
