/// A status with a code, such as `REGCODE`.
///
/// The `status` callback delivers statuses at any time and in any order.
public struct EntitlementStatus: Hashable, Sendable {
  /// The severity of a status.
  @nonexhaustive
  public enum Level: String, Hashable, Sendable, CaseIterable {
    /// The status reports that an operation succeeded.
    case success
    /// The status is information that needs no action.
    case info
    /// A problem of which the app may want to tell the viewer.
    case warning
    /// The status reports that an operation failed.
    case error
  }

  public var id: StatusID
  public var level: Level
  /// The status's text, which may be shown to the viewer: for example a registration code or the provider's message.
  public var message: String
  /// Further values of the status by name: `details`, `resource`, `expires`, `display`, `url`, `urlComplete`, `match`,
  /// `retryAfter`.
  public var extras: [String: String]

  /// Creates a status.
  ///
  /// Without `level`, the code's documented severity is used.
  public init(
    _ id: StatusID, _ level: Level? = nil, message: String = "", extras: [String: String] = [:]
  ) {
    self.id = id
    self.level = level ?? id.level
    self.message = message
    self.extras = extras
  }

  /// The dictionary of the original `status` callback: `errorId`, `level`, `message` and the extras.
  public var dictionary: [String: String] {
    var all = extras
    all["errorId"] = id.rawValue
    all["level"] = level.rawValue
    all["message"] = message
    return all
  }
}

/// The code of an ``EntitlementStatus``, such as `REGCODE` or `N000`.
public struct StatusID: RawRepresentable, Hashable, Sendable {
  /// The code as the original API documents it.
  public let rawValue: String

  /// Creates a status code from its text, which need not be one of the codes that this type names.
  public init(rawValue: String) { self.rawValue = rawValue }

  private init(_ code: String) { rawValue = code }

  // The box's shared account (the platform account).
  /// The daemon reports a failure of the box's shared account; see ``isPlatformFailure``.
  public static let platformAccount = StatusID("AAPL_ERROR")
  /// The sign-in came from the box's shared account (the platform account).
  ///
  /// To sign out completely, the viewer must also sign out in the system's settings.
  public static let signOutInSettings = StatusID("VSA203")
  /// The viewer denied this app the use of the box's shared account.
  public static let permissionDenied = StatusID("VSA403")
  /// The viewer has not decided whether this app may use the box's shared account.
  public static let permissionUndetermined = StatusID("VSA404")
  /// The request to the daemon that holds the box's shared account failed.
  public static let platformRequestFailed = StatusID("VSA503")

  // General.
  /// An internal error, for example when tokens could not be stored.
  public static let internalError = StatusID("500")
  /// The service does not accept the app's credentials or its requestor.
  public static let notTrusted = StatusID("SEC403")
  /// The stored tokens belonged to another device id and have been deleted.
  public static let deviceChanged = StatusID("SEC412")
  /// No secure connection: a certificate is invalid.
  public static let unsafeConnection = StatusID("SEC420")

  // Configuration.
  public static let clockWrong = StatusID("CFG100")
  public static let unknownRequestor = StatusID("CFG400")
  public static let unreachable = StatusID("CFG404")
  /// The app sends too many configuration requests.
  public static let configurationThrottled = StatusID("CFG429")
  /// A service failed during configuration: `CFG500`, `CFG502`, `CFG503`.
  public static func configurationFailed(_ status: Int) -> StatusID {
    StatusID("CFG\(min(max(status, 500), 599))")
  }

  // Signing in.
  /// This device is not signed in.
  public static let notAuthenticated = StatusID("N000")
  /// The enabler tried to sign in without asking the viewer.
  public static let passiveAuthentication = StatusID("N001")
  /// The viewer chose a provider that the picker for the box's shared account does not list.
  public static let otherProvider = StatusID("N003")
  /// The viewer chose a provider that this requestor does not support.
  public static let unsupportedProvider = StatusID("N004")
  /// The viewer cancelled the picker for the box's shared account.
  public static let pickerCancelled = StatusID("N005")
  /// The device was signed in without a password, because the provider is out of order and an operator allowed it.
  public static let degradedAuthentication = StatusID("N010")
  /// The viewer was signed in by a temporary pass.
  public static let temporaryPass = StatusID("N011")
  /// The temporary pass that signed the viewer in has ended.
  public static let temporaryPassExpired = StatusID("N111")
  /// The sign-in no longer exists, or a call is not possible in the current state.
  public static let noSession = StatusID("N130")
  public static let authenticationFailed = StatusID("N500")
  /// The app's software statement is invalid or was revoked.
  ///
  /// Retrying does not help.
  public static let registrationFailed = StatusID("R400")
  /// The service gives the app no access token.
  ///
  /// Retrying does not help.
  public static let accessTokenFailed = StatusID("R401")
  /// The service gave no registration code.
  public static let noRegistrationCode = StatusID("REG500")
  /// A registration code for the app to show.
  public static let registrationCode = StatusID("REGCODE")
  /// A phone has opened the page of the code.
  ///
  /// An addition of Regent; the original API has no such code.
  public static let phoneConnected = StatusID("REGCODE_OPENED")
  /// With number matching: the number that the screen must show and that the viewer types on the phone.
  ///
  /// An addition of Regent.
  public static let numberMatch = StatusID("REGCODE_MATCH")

  /// While a registration code is shown, the service cannot be reached; the registration code stays valid.
  ///
  /// An addition of Regent.
  ///
  /// The extra `fault` gives the cause if it is known: a case of `ClientError.TLSFault`, or `captivePortal`.
  public static let connectionLost = StatusID("REGCODE_OFFLINE")
  /// While a registration code is shown, the service asks the device to wait, for `retryAfter` seconds if that extra is
  /// present.
  ///
  /// The code stays valid.
  ///
  /// An addition of Regent.
  public static let serviceBusy = StatusID("REGCODE_BUSY")
  /// The service answers again after `REGCODE_OFFLINE` or `REGCODE_BUSY`.
  ///
  /// An addition of Regent.
  public static let connectionBack = StatusID("REGCODE_ONLINE")

  // Authorizing.
  /// The resource is allowed without asking the provider, because the provider is out of order.
  public static let degradedAuthorization = StatusID("Z010")
  /// The resource is allowed by a temporary pass.
  public static let temporaryAuthorization = StatusID("Z011")
  /// The resource is denied, because of the subscription or of parental controls.
  public static let denied = StatusID("Z100")
  /// The resource was denied several times, so the enabler does not ask the service again for up to a minute.
  public static let deniedRepeatedly = StatusID("Z110")
  /// The provider has a technical problem, so the resource could not be authorized.
  public static let providerProblem = StatusID("Z120")
  public static let malformedResource = StatusID("Z130")
  /// The resource is denied because the provider is out of order.
  public static let degradedDenial = StatusID("Z169")
  public static let authorizationFailed = StatusID("Z500")
  /// A preauthorization failed, usually because it names too many resources.
  public static let preauthorizationFailed = StatusID("P100")

  /// Whether this status reports a failure of the box's shared account, in any of the spellings that the original SDK
  /// uses.
  public var isPlatformFailure: Bool { ["AAPL_ERROR", "AAPL", "APPL", "APPL_ERROR"].contains(rawValue) }

  /// The documented severity of the code.
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
  public var description: String { rawValue }
}
