import RegentPairing

/// Why this app cannot use the box's shared account.
///
/// Each fall-back to the app's own picker reports exactly one such reason.
struct PlatformTrouble: Hashable, Sendable {
  var id: StatusID
  /// The daemon's description of the problem.
  var context = ""

  static let denied = PlatformTrouble(id: .permissionDenied)
  static let undetermined = PlatformTrouble(id: .permissionUndetermined)
  static let unsupported = PlatformTrouble(id: .unsupportedProvider)

  /// The setting because of which this app cannot use a provider of the box.
  static func unsupported(_ provider: String, _ terms: PlatformRules.Terms) -> PlatformTrouble {
    let context =
      if !terms.isIntegrated {
        "this app has no integration with \(provider)"
      } else if !terms.hasSSO {
        "single sign-on with \(provider) is off for this app (regentctl integrate APP \(provider) --sso on)"
      } else {
        "\(provider) does not support single sign-on (regentctl provider set \(provider) --boarding supported)"
      }
    return PlatformTrouble(id: .unsupportedProvider, context: context)
  }
}

/// What the daemon reports about this app and the box's account at the start of a step.
enum PlatformStanding: Hashable, Sendable {
  /// The box has no daemon, or this program is not one of its apps.
  case absent
  case silent(String)
  case known(PlatformStatus)

  /// Converts the daemon's answer.
  ///
  /// If this app's sign-in came from the box's account, a missing daemon is a failure and not `absent`.
  init(_ answer: PlatformAnswer, own: SignIn.Source?) {
    switch answer {
    case .absent where own == .platform: self = .silent("no daemon listens for this app")
    case .absent: self = .absent
    case .status(let status): self = .known(status)
    case .silent(let why): self = .silent(why)
    case .refused(_, let why): self = .silent(why)
    case .assertion, .picker, .code, .news: self = .silent("the daemon's answer cannot be read")
    }
  }
}

/// The rules for using the box's shared account (the platform account), from rows 1 to 40 of the original SDK's
/// cookbook: each function takes values and returns one decision.
///
/// `Tests/AccessEnablerTests/Machine/platform-account.txt` lists the rows as test cases.
enum PlatformRules {
  /// The settings of a provider for this requestor, from the last configuration.
  struct Terms: Hashable, Sendable {
    /// Whether the requestor supports the provider.
    ///
    /// True before the first configuration, when this is not known.
    var isIntegrated = true
    var hasSSO = true
    var boarding: BoardingStatus?

    init() {}

    init(_ provider: MVPD?) {
      isIntegrated = provider != nil
      hasSSO = provider?.enablePlatformServices ?? false
      boarding = provider?.boardingStatus
    }

    /// Whether the list of providers for the box's shared account may contain this provider.
    var isCapable: Bool { isIntegrated && hasSSO && boarding != nil }
    /// Whether the box's shared account can sign in with the provider.
    var isSupported: Bool { isCapable && boarding == .supported }
  }

  // MARK: setRequestor

  enum Start: Hashable, Sendable {
    case silence
    case tell(PlatformTrouble)
    case forgetOwn
    case exchange(provider: String)
  }

  static func start(_ standing: PlatformStanding, own: SignIn.Source?, terms: (String) -> Terms) -> Start {
    switch standing {
    case .absent: return .silence
    case .silent(let why): return .tell(PlatformTrouble(id: .platformAccount, context: why))
    case .known(let status):
      if let trouble = trouble(status) { return .tell(trouble) }
      guard status.isSignedIn else { return own == .platform ? .forgetOwn : .silence }
      // Do nothing if the app has a sign-in of its own, or if the box has none that this app can use. The service has
      // just checked both.
      guard own == nil, let provider = status.provider, terms(provider).isSupported else { return .silence }
      return .exchange(provider: provider)
    }
  }

  // MARK: checkAuthentication

  struct Check: Hashable, Sendable {
    var trouble: PlatformTrouble?
    var isIn: Bool
  }

  static func check(_ standing: PlatformStanding, own: SignIn.Source?, terms: Terms) -> Check {
    let isRegular = own != nil && own != .platform
    switch standing {
    case .absent: return Check(isIn: own != nil)
    case .silent(let why):
      guard own != .platform else {
        return Check(trouble: PlatformTrouble(id: .platformAccount, context: why), isIn: false)
      }
      return Check(isIn: isRegular && terms.isIntegrated)
    case .known(let status):
      guard status.isSignedIn else { return Check(isIn: isRegular && terms.isIntegrated) }
      guard status.permission == .granted else {
        return Check(trouble: trouble(status), isIn: isRegular && terms.isIntegrated)
      }
      guard own == .platform else { return Check(isIn: isRegular && terms.isIntegrated) }
      let trouble = trouble(status)
      return Check(trouble: trouble, isIn: trouble == nil && terms.isIntegrated && terms.hasSSO)
    }
  }

  // MARK: getAuthentication

  enum Login: Hashable, Sendable {
    case signedIn
    /// Show the app's own picker, and report why the picker for the box's shared account is not shown, if there is a
    /// reason.
    case ownPicker(PlatformTrouble?)
    case platformPicker
    case exchange(provider: String)
  }

  /// How to start a sign-in.
  ///
  /// `own` is the source of the app's valid sign-in, nil if there is none or a new one is required. `hasCapable` says
  /// whether the picker for the box's shared account would list a provider.
  static func login(
    _ standing: PlatformStanding, own: SignIn.Source?, ownTerms: Terms, hasCapable: Bool, terms: (String) -> Terms
  ) -> Login {
    switch standing {
    case .absent: return own == nil ? .ownPicker(nil) : .signedIn
    case .silent(let why):
      return .ownPicker(PlatformTrouble(id: .platformRequestFailed, context: why))
    case .known(let status):
      if let trouble = trouble(status) { return .ownPicker(trouble) }
      guard status.isSignedIn else { return hasCapable ? .platformPicker : .ownPicker(nil) }
      if own == .platform, ownTerms.isIntegrated, ownTerms.hasSSO { return .signedIn }
      guard let provider = status.provider else { return .ownPicker(nil) }
      let terms = terms(provider)
      return terms.isSupported ? .exchange(provider: provider) : .ownPicker(.unsupported(provider, terms))
    }
  }

  // MARK: The picker for the box's shared account

  enum Choice: Hashable, Sendable {
    case unsupported
    /// The picker only lists the provider, and the box's shared account does not support it. So only this app is signed
    /// in.
    case thisApp
    case box
  }

  static func choice(_ terms: Terms) -> Choice {
    guard terms.isCapable else { return .unsupported }
    return terms.isSupported ? .box : .thisApp
  }

  /// The reason why this app cannot use the account, if there is one: first a missing permission, then a failure of the
  /// account itself.
  private static func trouble(_ status: PlatformStatus) -> PlatformTrouble? {
    switch status.permission {
    case .denied: .denied
    case .undetermined: .undetermined
    case .granted:
      status.isSignedIn ? status.failure.map { PlatformTrouble(id: .platformAccount, context: $0) } : nil
    }
  }
}
