public import RegentPairing

/// A TV provider: what a picker shows and what ``AccessEnabler/setSelectedProvider(_:)`` takes.
public struct MVPD: Hashable, Sendable {
  /// Its id, which `setSelectedProvider` takes.
  public var id: String
  /// What viewers read.
  public var displayName: String
  /// Where its logo is.
  public var logoURL: String?
  /// Whether it takes part in the platform's sign-on.
  public var enablePlatformServices: Bool
  /// Its part in the platform's picker; none when it has no part in it.
  public var boardingStatus: BoardingStatus?
  /// Whether it is a temporary pass, which lets a device in without an account.
  public var isTemporaryPass: Bool
  /// Whether that pass is a promotion, which wants to be told for whom it is: the data of `getAuthentication`.
  public var wantsIdentity: Bool
  /// Whether pickers show it first.
  public var isFeatured: Bool
  /// Whether its pages want a browser sheet that the app cannot look into.
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
