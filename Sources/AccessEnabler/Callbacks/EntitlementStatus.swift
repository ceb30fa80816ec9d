/// A piece of news with a code: what `status` delivers, at any time and in any order.
public struct EntitlementStatus: Hashable, Sendable {
  /// How serious it is.
  @nonexhaustive
  public enum Level: String, Hashable, Sendable, CaseIterable {
    /// Something went well.
    case success
    /// Good to know.
    case info
    /// The app may want to tell the viewer.
    case warning
    /// Something failed.
    case error
  }

  /// Which piece of news.
  public var id: StatusID
  /// How serious it is.
  public var level: Level
  /// A text that may be shown: a registration code, the provider's own words.
  public var message: String
  /// What else is known, by name: `details`, `resource`, `expires`, `display`, `url`, `urlComplete`, `match`,
  /// `retryAfter`.
  public var extras: [String: String]

  /// A piece of news.
  public init(
    _ id: StatusID, _ level: Level? = nil, message: String = "", extras: [String: String] = [:]
  ) {
    self.id = id
    self.level = level ?? id.level
    self.message = message
    self.extras = extras
  }

  /// The dictionary of the historic callback: `errorId`, `level`, `message` and the extras.
  public var dictionary: [String: String] {
    var all = extras
    all["errorId"] = id.rawValue
    all["level"] = level.rawValue
    all["message"] = message
    return all
  }
}

/// The codes of ``EntitlementStatus``.
public struct StatusID: RawRepresentable, Hashable, Sendable {
  /// The code as documented.
  public let rawValue: String

  /// A code, also one that is not among those below.
  public init(rawValue: String) { self.rawValue = rawValue }

  private init(_ code: String) { rawValue = code }

  // The box's platform account.
  /// A failure of the platform's account; see ``isPlatformFailure``.
  public static let platformAccount = StatusID("AAPL_ERROR")
  /// The sign-in came from the platform: sign out in the system's settings too.
  public static let signOutInSettings = StatusID("VSA203")
  /// The platform's permission was denied.
  public static let permissionDenied = StatusID("VSA403")
  /// The platform's permission was not decided yet.
  public static let permissionUndetermined = StatusID("VSA404")
  /// The platform's account could not be asked.
  public static let platformRequestFailed = StatusID("VSA503")

  // Anything.
  /// Something inside the enabler failed; tokens could not be saved.
  public static let internalError = StatusID("500")
  /// The service does not accept the app's credentials, or this requestor.
  public static let notTrusted = StatusID("SEC403")
  /// The tokens were made for another device id and have been cleared.
  public static let deviceChanged = StatusID("SEC412")
  /// No safe connection: a certificate is wrong.
  public static let unsafeConnection = StatusID("SEC420")

  // Configuration.
  /// This device's clock is wrong.
  public static let clockWrong = StatusID("CFG100")
  /// The service does not know the requestor.
  public static let unknownRequestor = StatusID("CFG400")
  /// No service can be reached.
  public static let unreachable = StatusID("CFG404")
  /// Too many configuration calls.
  public static let configurationThrottled = StatusID("CFG429")
  /// A service failed: `CFG500`, `CFG502`, `CFG503`.
  public static func configurationFailed(_ status: Int) -> StatusID {
    StatusID("CFG\(min(max(status, 500), 599))")
  }

  // Signing in.
  /// Not signed in.
  public static let notAuthenticated = StatusID("N000")
  /// Signed in without asking anybody has been tried.
  public static let passiveAuthentication = StatusID("N001")
  /// Another provider than those of the platform's picker was chosen.
  public static let otherProvider = StatusID("N003")
  /// A provider was chosen that this requestor does not support.
  public static let unsupportedProvider = StatusID("N004")
  /// The platform's picker was cancelled.
  public static let pickerCancelled = StatusID("N005")
  /// Let in because the provider is out of order.
  public static let degradedAuthentication = StatusID("N010")
  /// Let in by a temporary pass.
  public static let temporaryPass = StatusID("N011")
  /// The temporary pass has ended.
  public static let temporaryPassExpired = StatusID("N111")
  /// There is no such sign-in any more, or a call came out of order.
  public static let noSession = StatusID("N130")
  /// Signing in failed.
  public static let authenticationFailed = StatusID("N500")
  /// The app's software statement is invalid or was revoked; trying again does not help.
  public static let registrationFailed = StatusID("R400")
  /// No access token could be got; trying again does not help.
  public static let accessTokenFailed = StatusID("R401")
  /// No registration code could be got.
  public static let noRegistrationCode = StatusID("REG500")
  /// A registration code: show it.
  public static let registrationCode = StatusID("REGCODE")
  /// A phone has opened the code (ours).
  public static let phoneConnected = StatusID("REGCODE_OPENED")
  /// The number to show, which the viewer picks on the phone (ours).
  public static let numberMatch = StatusID("REGCODE_MATCH")

  /// The service cannot be asked about the code for the moment; the code stays good (ours).
  ///
  /// `fault` says why where it is known: a case of `ClientError.TLSFault`, or `captivePortal`.
  public static let connectionLost = StatusID("REGCODE_OFFLINE")
  /// The service is there and asks to be left alone for a while, for `retryAfter` seconds when it says how long; the
  /// code stays good (ours).
  public static let serviceBusy = StatusID("REGCODE_BUSY")
  /// The service answers again (ours).
  public static let connectionBack = StatusID("REGCODE_ONLINE")

  // Authorizing.
  /// Allowed because the provider is out of order.
  public static let degradedAuthorization = StatusID("Z010")
  /// Allowed by a temporary pass.
  public static let temporaryAuthorization = StatusID("Z011")
  /// Denied: subscription or parental controls.
  public static let denied = StatusID("Z100")
  /// Denied so often that the service is not asked any more for a while.
  public static let deniedRepeatedly = StatusID("Z110")
  /// A technical problem with the provider.
  public static let providerProblem = StatusID("Z120")
  /// The resource is not well formed.
  public static let malformedResource = StatusID("Z130")
  /// Nobody may watch at the moment.
  public static let degradedDenial = StatusID("Z169")
  /// Authorizing failed.
  public static let authorizationFailed = StatusID("Z500")
  /// Asking for many resources at once failed, usually because there were too many.
  public static let preauthorizationFailed = StatusID("P100")

  /// Whether it is a failure of the platform's account, in any of the spellings that the original prints.
  public var isPlatformFailure: Bool { ["AAPL_ERROR", "AAPL", "APPL", "APPL_ERROR"].contains(rawValue) }

  /// How serious it is, as documented.
  public var level: EntitlementStatus.Level {
    switch self {
    case .registrationCode: .success
    case .signOutInSettings, .permissionUndetermined, .platformRequestFailed, .notAuthenticated,
      .passiveAuthentication, .otherProvider, .unsupportedProvider, .pickerCancelled,
      .temporaryPass, .temporaryAuthorization, .phoneConnected, .numberMatch, .permissionDenied,
      .connectionBack:
      .info
    case .deviceChanged, .clockWrong, .degradedAuthentication, .temporaryPassExpired,
      .connectionLost, .serviceBusy, .degradedAuthorization:
      .warning
    default: .error
    }
  }
}

extension StatusID: CustomStringConvertible {
  /// The code.
  public var description: String { rawValue }
}
