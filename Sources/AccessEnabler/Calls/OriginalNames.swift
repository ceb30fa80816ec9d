// The names of the original AccessEnabler, each with the name that it has here. An app that is ported compiles with
// them, and the compiler suggests the new names. docs/porting.md lists all.

public import RegentPairing

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
public let METADATA_AUTHENTICATION = MetadataOpcode.authentication
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.authorization")
public let METADATA_AUTHORIZATION = MetadataOpcode.authorization
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.deviceID")
public let METADATA_DEVICE_ID = MetadataOpcode.deviceID
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "MetadataArgument.userMetadata")
public let METADATA_USER_META = MetadataOpcode.userMetadata

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "ProviderFilter.providersKey")
public let TV_PROVIDERS = ProviderFilter.providersKey
// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, deprecated, renamed: "ProviderFilter.featuredKey")
public let FEATURED_TV_PROVIDERS = ProviderFilter.featuredKey

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

extension Optional where Wrapped == BoardingStatus {
  /// Compares a boarding status with the original API's text, `"PICKER"` or `"SUPPORTED"`.
  @available(*, deprecated, message: "compare with .picker or .supported")
  public static func == (status: Self, text: String) -> Bool { status?.originalName == text }

  /// Compares a boarding status with the original API's text, `"PICKER"` or `"SUPPORTED"`.
  @available(*, deprecated, message: "compare with .picker or .supported")
  public static func != (status: Self, text: String) -> Bool { status?.originalName != text }
}

extension BoardingStatus {
  fileprivate var originalName: String? {
    switch self {
    case .none: nil
    case .picker: "PICKER"
    case .supported: "SUPPORTED"
    }
  }
}

// The functions of the original SDK take `[AnyHashable: Any]`, as Swift imports `NSDictionary`. A `[String: Any]`
// converts to it.
extension AccessEnabler {
  /// Signs this device in with data for the service.
  ///
  /// - Parameters:
  ///   - force: whether to sign in again although this device is signed in.
  ///   - data: values for the service; numbers and booleans are converted to strings.
  @available(*, deprecated, renamed: "getAuthentication(force:data:)")
  public func getAuthentication(_ force: Bool, withData data: [AnyHashable: Any]?) {
    getAuthentication(force: force, data: OriginalDictionary(data).texts)
  }

  /// Signs this device in.
  ///
  /// The picker for the box's shared account lists the providers of the filter.
  ///
  /// - Parameter filter: `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`, lists of provider ids.
  @available(*, deprecated, renamed: "getAuthentication(force:data:filter:)")
  public func getAuthentication(_ filter: [AnyHashable: Any]) {
    getAuthentication(filter: OriginalDictionary(filter).filter)
  }

  /// Signs this device in with data for the service.
  ///
  /// The picker for the box's shared account lists the providers of the filter.
  ///
  /// - Parameters:
  ///   - force: whether to sign in again although this device is signed in.
  ///   - data: values for the service; numbers and booleans are converted to strings.
  ///   - filter: `TV_PROVIDERS` and `FEATURED_TV_PROVIDERS`, lists of provider ids.
  @available(*, deprecated, renamed: "getAuthentication(force:data:filter:)")
  public func getAuthentication(
    _ force: Bool, withData data: [AnyHashable: Any]?, andFilter filter: [AnyHashable: Any]?
  ) {
    let filter = filter.map { OriginalDictionary($0).filter }
    getAuthentication(force: force, data: OriginalDictionary(data).texts, filter: filter)
  }

  /// Signs this device in with data for the service.
  ///
  /// The picker for the box's shared account lists only the providers of the filter, in its order.
  ///
  /// - Parameters:
  ///   - force: whether to sign in again although this device is signed in.
  ///   - data: values for the service; numbers and booleans are converted to strings.
  ///   - filter: provider ids.
  @available(*, deprecated, renamed: "getAuthentication(force:data:filter:)")
  public func getAuthentication(_ force: Bool, withData data: [AnyHashable: Any]?, andFilter filter: [String]) {
    getAuthentication(force: force, data: OriginalDictionary(data).texts, filter: ProviderFilter(filter))
  }

  /// Authorizes a resource if this device is signed in; never starts a sign-in.
  ///
  /// - Parameters:
  ///   - resource: the resource's id.
  ///   - data: values for the service; numbers and booleans are converted to strings.
  @available(*, deprecated, renamed: "checkAuthorization(_:data:)")
  public func checkAuthorization(_ resource: String, withData data: [AnyHashable: Any]?) {
    checkAuthorization(resource, data: OriginalDictionary(data).texts)
  }

  /// Authorizes a resource, and signs this device in first if necessary.
  ///
  /// - Parameters:
  ///   - resource: the resource's id.
  ///   - data: values for the service; numbers and booleans are converted to strings.
  @available(*, deprecated, renamed: "getAuthorization(_:data:)")
  public func getAuthorization(_ resource: String, withData data: [AnyHashable: Any]?) {
    getAuthorization(resource, data: OriginalDictionary(data).texts)
  }

  /// Sets options by the names of the original API.
  ///
  /// Values may be strings, numbers and booleans.
  ///
  /// - Parameter options: the names of ``setOptions(_:)-([String:String])``; `device_info` may also be a dictionary.
  public func setOptions(_ options: [AnyHashable: Any]) {
    setOptions(EnablerOptions(OriginalDictionary(options).options))
  }

  /// Asks for a piece of metadata.
  ///
  /// Ends with `setMetadataStatus`, in whose arguments the operation is a name.
  ///
  /// - Parameter arguments: `METADATA_OPCODE_KEY` with a ``MetadataOpcode``, its number or its name, and the other
  ///   arguments of that operation.
  public func getMetadata(_ arguments: [AnyHashable: Any]) {
    getMetadata(OriginalDictionary(arguments).metadataArguments)
  }
}
