import RegentPairing

/// What an app is told when the box's account cannot be used: exactly one of these with each fall-back.
struct PlatformTrouble: Hashable, Sendable {
  var id: StatusID
  /// What went wrong, in the daemon's words.
  var context = ""

  static let denied = PlatformTrouble(id: .permissionDenied)
  static let undetermined = PlatformTrouble(id: .permissionUndetermined)
  static let unsupported = PlatformTrouble(id: .unsupportedProvider)
}

/// How the daemon stands to this app, when a step begins.
enum PlatformStanding: Hashable, Sendable {
  /// There is none, or none for this app.
  case absent
  case silent(String)
  case known(PlatformStatus)

  /// Somebody whose sign-in came from a daemon that is gone has not just "no daemon".
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

/// The rules of the platform account, as the cookbook's rows 1–40 have them: values in, one decision out.
///
/// `Tests/AccessEnablerTests/Machine/platform-account.txt` was written from those rows and holds them.
enum PlatformRules {
  /// What a provider is at this app, as of the last configuration.
  struct Terms: Hashable, Sendable {
    /// Nobody knows before a configuration came.
    var isIntegrated = true
    var hasSSO = true
    var boarding: BoardingStatus?

    init() {}

    init(_ provider: MVPD?) {
      isIntegrated = provider != nil
      hasSSO = provider?.enablePlatformServices ?? false
      boarding = provider?.boardingStatus
    }

    /// Whether the platform's dialog may show it.
    var isCapable: Bool { isIntegrated && hasSSO && boarding != nil }
    /// Whether the box's account opens it.
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
      // The service has just been asked about a sign-in of this app's own, and about its parent: it is left alone.
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
    /// The app's own picker, with the reason why it is not the platform's, if there is one.
    case ownPicker(PlatformTrouble?)
    case platformPicker
    case exchange(provider: String)
  }

  /// How a sign-in begins; `own` is the app's sign-in, unless it is to be made anew, and `hasCapable` whether the
  /// platform's dialog would have anything to show.
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
      return terms(provider).isSupported ? .exchange(provider: provider) : .ownPicker(.unsupported)
    }
  }

  // MARK: The platform's dialog

  enum Choice: Hashable, Sendable {
    case unsupported
    /// It is in the picker only: this app alone signs in.
    case thisApp
    case box
  }

  static func choice(_ terms: Terms) -> Choice {
    guard terms.isCapable else { return .unsupported }
    return terms.isSupported ? .box : .thisApp
  }

  /// Permission first, then the account: with exactly one code.
  private static func trouble(_ status: PlatformStatus) -> PlatformTrouble? {
    switch status.permission {
    case .denied: .denied
    case .undetermined: .undetermined
    case .granted:
      status.isSignedIn ? status.failure.map { PlatformTrouble(id: .platformAccount, context: $0) } : nil
    }
  }
}
