public import RegentPairing

/// A TV provider, as a picker shows it and ``AccessEnabler/setSelectedProvider(_:)`` takes it.
public struct MVPD: Hashable, Sendable {
  /// The provider's id, for `setSelectedProvider`.
  public var id: String
  /// The name that viewers read.
  public var displayName: String
  public var logoURL: String?
  /// Whether the box's shared account (the platform account) can be used with the provider.
  public var enablePlatformServices: Bool
  /// How the provider takes part in the box's shared account: the account supports it, or the picker only lists it; nil
  /// for neither.
  public var boardingStatus: BoardingStatus?
  /// Whether the provider is a temporary pass, which signs a device in without an account.
  public var isTemporaryPass: Bool
  /// Whether the provider is a promotional pass, which needs data about the viewer from `getAuthentication`.
  public var wantsIdentity: Bool
  /// Whether pickers list the provider first.
  public var isFeatured: Bool
  /// Whether the provider's pages must open in a browser sheet whose contents the app cannot read.
  public var wantsSecureSheet: Bool

  public init(
    id: String, displayName: String, logoURL: String? = nil, enablePlatformServices: Bool = false,
    boardingStatus: BoardingStatus? = nil, isTemporaryPass: Bool = false, isFeatured: Bool = false,
    wantsSecureSheet: Bool = false, wantsIdentity: Bool = false
  ) {
    self.id = id
    self.displayName = displayName
    self.logoURL = logoURL
    self.enablePlatformServices = enablePlatformServices
    self.boardingStatus = boardingStatus
    self.isTemporaryPass = isTemporaryPass
    self.wantsIdentity = wantsIdentity
    self.isFeatured = isFeatured
    self.wantsSecureSheet = wantsSecureSheet
  }
}
