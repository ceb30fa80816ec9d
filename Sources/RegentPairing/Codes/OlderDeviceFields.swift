/// Deprecated parameters of a registration request.
///
/// Existing clients still send them.
public struct OlderDeviceFields: Hashable, Sendable {
  public var deviceType: String?
  public var deviceUser: String?
  public var appID: String?
  public var appVersion: String?
  public var registrationURL: String?

  public init(
    deviceType: String? = nil, deviceUser: String? = nil, appID: String? = nil,
    appVersion: String? = nil, registrationURL: String? = nil
  ) {
    self.deviceType = deviceType
    self.deviceUser = deviceUser
    self.appID = appID
    self.appVersion = appVersion
    self.registrationURL = registrationURL
  }

  public var isEmpty: Bool { self == OlderDeviceFields() }
}
