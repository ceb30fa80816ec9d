import RegentPairing

@testable import AccessEnabler

/// A state machine with a simulated daemon and service that answer every query as one row of the platform table says.
struct PlatformBench {
  let row: PlatformTable.Row
  private(set) var bench: Bench
  private(set) var children = 0
  private var boxIsIn: Bool

  static let other = MVPD(
    id: "OTHER", displayName: "Other", enablePlatformServices: true, boardingStatus: .supported)
  static let plain = MVPD(id: "PLAIN", displayName: "Plain")

  init(_ row: PlatformTable.Row) {
    self.row = row
    boxIsIn = row.isBoxIn
    let step = row.step
    bench = Bench { if step == "leave-browser" { $0.login = .browser(redirectURL: "app://done") } }
  }

  // MARK: Running the step

  /// Runs the row's step and returns the callbacks and statuses in the table's words.
  mutating func run() -> [String] {
    let isThere = row.daemon != "none"
    // The daemon appears only after this preparation, so that its effects are not counted as the step's.
    bench.send(.platform(isThere: row.step == "start" && isThere))
    bench.setRequestor(tokens: tokens())
    if row.step == "start" {
      settle()
      return told
    }
    settle()
    bench.send(.tokens(tokens()))
    bench.send(.platform(isThere: isThere))
    bench.forget()
    switch row.step {
    case "check": bench.call(.checkAuthentication)
    case "get": get()
    case "cancel":
      get()
      settle()
      bench.forget()
      bench.call(.setSelectedProvider(nil))
    case "leave", "leave-browser":
      bench.call(.logout)
      settle()
      if row.step == "leave-browser" { bench.call(.handleExternalURL("app://done")) }
    default:
      get()
      settle()
      bench.forget()
      answerDialog()
    }
    settle()
    return told
  }

  private mutating func get() { bench.call(.getAuthentication(AuthenticationRequest())) }

  private mutating func answerDialog() {
    switch row.step {
    case "dialog-other": bench.call(.answerTvProviderDialog(.other))
    case "dialog-quit": bench.call(.answerTvProviderDialog(.cancel))
    default: bench.call(.answerTvProviderDialog(.provider(Bench.cable.id)))
    }
  }

  /// The source of the stored sign-in, in the table's words.
  var own: String {
    guard let kept = bench.machine.tokens.authentication else { return "none" }
    guard kept.isValid(at: bench.now) else { return "expired" }
    return kept.signIn.source == .platform ? "platform" : "regular"
  }

  // MARK: The state before the step

  private func tokens() -> RequestorTokens {
    var tokens = RequestorTokens()
    guard row.own != "none" else { return tokens }
    let expires = bench.now + .seconds(row.own == "expired" ? -60 : 86_400)
    tokens.authentication = StoredAuthentication(
      signIn: SignIn(
        provider: Bench.cable, userID: "user", expires: expires, source: row.own == "platform" ? .platform : .regular),
      service: Bench.service)
    return tokens
  }

  private var providers: [MVPD] {
    var cable = Bench.cable
    cable.enablePlatformServices = row.hasSSO
    let boardings: [String: BoardingStatus] = ["supported": .supported, "picker": .picker]
    cable.boardingStatus = boardings[row.boarding]
    let needsOther = row.step.hasPrefix("dialog") || row.step.hasPrefix("choose")
    return (row.isIntegrated ? [cable] : []) + (needsOther ? [Self.other] : []) + [Self.plain]
  }

  // MARK: The simulated daemon and service

  /// Answers the state machine's calls until none is open.
  private mutating func settle() {
    for _ in 0..<50 {
      guard let call = bench.open.last, let answer = answer(to: call) else { return }
      bench.send(.answered(call.id, answer))
    }
  }

  private mutating func answer(to call: OutgoingCall) -> ServiceAnswer? {
    switch call.operation {
    case .configuration:
      return .configuration(ServiceConfiguration(providers: providers, domains: ["sport.example"]))
    case .authentication: return authentication()
    case .platform(let question): return .platform(daemon(question))
    case .profileRequest: return row.answer == "unreachable" ? .failed(.away) : .profileRequest("cmVxdWVzdA==")
    case .exchange: return exchange()
    case .createCode: return .code(.offered)
    case .awaitCode, .readCode:
      return switch row.step {
      case "choose-denied": .code(.record(.denied, 2))
      case "choose-expired": .code(.record(.expired, 2))
      case "choose-back":
        back()
      default: .code(.record(.approved, 2))
      }
    case .deleteCode, .logout: return .done
    default: return nil
    }
  }

  private var isExchanged = false
  private var wentBack = false

  /// Goes back while a code is on the screen; the failed answer then belongs to an abandoned query and must have no
  /// effect.
  private mutating func back() -> ServiceAnswer {
    if !wentBack {
      wentBack = true
      bench.call(.setSelectedProvider(nil))
    }
    return .failed(.away)
  }

  private mutating func authentication() -> ServiceAnswer {
    var granted = GrantedAuthentication.regular
    if isExchanged {
      granted.source = .platform
      return .authentication(granted)
    }
    if case .fetching = bench.machine.phase { return .authentication(granted) }
    if case .waiting = bench.machine.phase { return .missing }
    // The service ends an app's sign-in together with the box's, and returns no expired sign-in.
    switch row.own {
    case "regular": return .authentication(granted)
    case "platform" where !isParentGone:
      granted.source = .platform
      return .authentication(granted)
    default: return .missing
    }
  }

  private var isParentGone: Bool {
    row.step == "start" && row.answer == "gone" && row.isBoxIn && row.isKnown && row.isIntegrated && row.hasSSO
      && row.boarding == "supported" && !row.isDegraded && row.permission == "granted" && row.daemon == "answers"
  }

  private mutating func exchange() -> ServiceAnswer {
    func refused(_ details: String) -> ServiceAnswer { .failed(.status(400, details: details)) }
    guard row.hasSSO, row.isIntegrated else { return refused("sso") }
    if row.isDegraded { return refused("degraded") }
    switch row.answer {
    case "accepted":
      isExchanged = true
      children += 1
      return .done
    case "gone": return refused("parent")
    case "unreachable": return .failed(.away)
    default: return refused("used")
    }
  }

  private mutating func daemon(_ question: PlatformQuestion) -> PlatformAnswer {
    switch row.daemon {
    case "none", "stranger": return .absent
    case "silent": return .silent("it says nothing")
    default: break
    }
    switch question {
    case .status, .access, .signOut: return .status(standing)
    case .assertion: return row.answer == "none" ? .refused(.assertion, "no word for it") : .assertion("word")
    case .picker: return .picker([Self.other.id, Bench.cable.id])
    case .signIn: return signIn()
    case .news: return news()
    case .leave: return .news(PlatformNews(last: 0))
    }
  }

  private var standing: PlatformStatus {
    let permission = PlatformPermission(rawValue: row.permission) ?? .undetermined
    var status = PlatformStatus(permission: permission, isSignedIn: boxIsIn)
    guard permission == .granted, boxIsIn else { return status }
    status.provider = row.isKnown ? (row.step == "choose-foreign" ? "FOREIGN" : Bench.cable.id) : nil
    // On the phone the viewer chose a provider that this app does not offer, whatever the app may know of the box's
    // account.
    if row.step == "choose-foreign" { status.provider = "FOREIGN" }
    if row.daemon == "failed" { status.failure = "the account's file cannot be read" }
    return status
  }

  private func signIn() -> PlatformAnswer {
    switch row.step {
    case "choose-lacks": .refused(.provider, "the box maker has no such provider")
    case "choose-silent": .silent("it is gone")
    default: .boxCode
    }
  }

  private mutating func news() -> PlatformAnswer {
    switch row.step {
    case "choose-denied": return .news(PlatformNews(last: 1, end: .denied))
    case "choose-expired": return .news(PlatformNews(last: 1, end: .expired))
    case "choose-back":
      _ = back()
      return .news(PlatformNews(last: 1))
    default:
      boxIsIn = true
      return .news(PlatformNews(last: 1, end: .authenticated))
    }
  }

  // MARK: Callbacks in the table's words

  private var told: [String] {
    bench.told.compactMap { event in
      switch event {
      case .setRequestorComplete(.success): "complete"
      case .setAuthenticationStatus(.authenticated, _): "in"
      case .setAuthenticationStatus(_, .userNotAuthenticated): "out"
      case .setAuthenticationStatus(_, .providerNotSelected): "unchosen"
      case .setAuthenticationStatus(_, .genericAuthentication): "generic"
      case .displayProviderDialog: "dialog"
      case .presentTvProviderDialog: "present"
      case .dismissTvProviderDialog: "dismiss"
      case .navigateToUrl: "browse"
      // The ordinary flow's status for a denied or expired code; the table leaves it out.
      case .status(let status) where status.id == .notAuthenticated: nil
      case .status(let status): status.id.rawValue
      default: nil
      }
    }
  }
}
