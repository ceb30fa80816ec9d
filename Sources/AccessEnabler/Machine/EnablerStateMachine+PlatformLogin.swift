import RegentPairing

// The part of `getAuthentication` that uses the box's shared account (the platform account): exchanging the box's
// sign-in for one of this app, and the account's provider picker.

/// The state of a sign-in that first asks the daemon of the box's shared account.
struct Attaching: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case standing
    case picker
    case exchange(PlatformExchange)
    /// Waiting for the daemon to start the box's own sign-in.
    case boxSignIn(provider: String)
  }

  var step: Step
  var call: CallID
  /// Whether the box has just signed in for this login.
  ///
  /// If so, the account's provider picker is not shown a second time.
  var isAfterBoxSignIn = false
}

/// The provider picker for the box's shared account (the platform's dialog) while the app shows it.
struct PresentedDialog: Hashable, Sendable {
  var dialog: ProviderDialog
  /// The ids of the providers in the picker, as the box's daemon listed them.
  var ids: [String]
  /// The timer after which the picker counts as cancelled.
  var deadline: TimerID
}

/// The registration code of the box's own sign-in, shown on this app's screen.
struct BoxCode: Hashable, Sendable {
  var signIn: String
  var offer: RegistrationOffer
  var last: Int
  var call: CallID
  var isOpened = false
}

extension EnablerStateMachine {
  mutating func attach(_ login: Login, isAfterBoxSignIn: Bool = false) {
    let call = ask(.status, for: .login)
    phase = .attaching(login, Attaching(step: .standing, call: call, isAfterBoxSignIn: isAfterBoxSignIn))
  }

  mutating func attachingAnswered(_ answer: ServiceAnswer, _ login: Login, _ attaching: Attaching) {
    switch attaching.step {
    case .standing: loginStandingCame(answer, login, attaching)
    case .picker: pickerCame(answer, login)
    case .exchange(let exchange): exchanged(answer, login, exchange)
    case .boxSignIn: boxSignInBegan(answer, login)
    }
  }

  private mutating func loginStandingCame(_ answer: ServiceAnswer, _ login: Login, _ attaching: Attaching) {
    // The box has just signed in again, so a sign-in that this app exchanged for the box's earlier sign-in no longer
    // counts.
    let kept = validAuthentication.flatMap { one in
      login.isForced || attaching.isAfterBoxSignIn && one.signIn.source == .platform ? nil : one
    }
    let decision = PlatformRules.login(
      standing(answer), own: kept?.signIn.source, ownTerms: ownTerms, hasCapable: !capable.isEmpty,
      terms: { terms(of: $0) })
    switch decision {
    case .signedIn:
      guard let kept else { return fallBack(login, nil) }
      phase = .ready
      succeed(login, kept.signIn, isCached: true)
    case .ownPicker(let trouble): fallBack(login, trouble)
    case .platformPicker where attaching.isAfterBoxSignIn:
      let why = "the box signed in, and says that nobody is"
      fallBack(login, PlatformTrouble(id: .platformAccount, context: why))
    case .platformPicker:
      phase = .attaching(login, Attaching(step: .picker, call: ask(.picker, for: .login)))
    case .exchange(let provider):
      guard let exchange = newExchange(provider) else { return fallBack(login, .unsupported) }
      go(on: exchange, to: .request, .profileRequest(provider: provider), login)
    }
  }

  /// Shows the app's own provider picker, because the box's shared account cannot be used.
  ///
  /// If `trouble` is given, reports that trouble first, as exactly one status.
  mutating func fallBack(_ login: Login, _ trouble: PlatformTrouble?) {
    phase = .choosing(login)
    if let trouble { tell(trouble) }
    choose(login, nil)
  }

  // MARK: Exchanging the box's sign-in

  private mutating func go(
    on exchange: PlatformExchange, to step: PlatformExchange.Step, _ operation: OutgoingCall.Operation,
    _ login: Login
  ) {
    var exchange = exchange
    exchange.step = step
    let call = send(operation, to: exchange.service, for: .login)
    phase = .attaching(login, Attaching(step: .exchange(exchange), call: call))
  }

  private mutating func exchanged(_ answer: ServiceAnswer, _ login: Login, _ exchange: PlatformExchange) {
    switch exchange.course(answer) {
    case .next(let step, let operation): go(on: exchange, to: step, operation, login)
    case .granted(let granted): succeed(login, granted, from: exchange.service)
    case .failed(.unsupported): fallBack(login, .unsupported)
    case .failed(.trouble(let trouble)): fallBack(login, trouble)
    case .failed(.silent(let why)): fallBack(login, PlatformTrouble(id: .platformRequestFailed, context: why))
    case .failed(.parentGone), .failed(.refused): fallBack(login, nil)
    }
  }

  // MARK: The dialog

  /// The app's providers that the picker for the box's shared account may list.
  var capable: [MVPD] { providers.filter { PlatformRules.Terms($0).isCapable } }

  private mutating func pickerCame(_ answer: ServiceAnswer, _ login: Login) {
    guard case .platform(.picker(let ids)) = answer else {
      guard case .silent(let why) = standing(answer) else { return fallBack(login, nil) }
      return fallBack(login, PlatformTrouble(id: .platformRequestFailed, context: why))
    }
    present(login, of: ids)
  }

  private mutating func present(_ login: Login, of ids: [String]) {
    let order = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { one, _ in one })
    let listed = capable.filter { order[$0.id] != nil }.sorted { order[$0.id] ?? 0 < order[$1.id] ?? 0 }
    let dialog = ProviderDialog(filtering: listed.isEmpty ? capable : listed, with: login.filter)
    let deadline = startDeadline(settings.timing.dialog)
    phase = .presenting(login, PresentedDialog(dialog: dialog, ids: ids, deadline: deadline))
    tell(.presentTvProviderDialog(dialog))
  }

  mutating func dismiss(_ presented: PresentedDialog) {
    drop(presented.deadline)
    tell(.dismissTvProviderDialog(presented.dialog))
  }

  /// Shows the picker for the box's shared account again after the app called again.
  ///
  /// The new filter also applies to the earlier calls.
  mutating func presentAgain(_ login: Login) {
    guard case .presenting(_, let presented) = phase else { return }
    phase = .presenting(login, presented)
    dismiss(presented)
    present(login, of: presented.ids)
  }

  mutating func dialogAnswered(_ answer: TvProviderAnswer, _ request: RequestID) {
    guard case .presenting(let login, let presented) = phase else {
      return fail(request, EntitlementError(.outOfOrder))
    }
    finish(request, .heard)
    dismiss(presented)
    switch answer {
    case .other: fallBack(login, PlatformTrouble(id: .otherProvider))
    case .cancel: fallBack(login, PlatformTrouble(id: .pickerCancelled))
    case .provider(let id):
      switch PlatformRules.choice(terms(of: id)) {
      case .unsupported: fallBack(login, .unsupported)
      case .thisApp:
        phase = .choosing(login)
        choose(login, .provider(id))
      case .box:
        let call = ask(.signIn(provider: id), for: .login)
        phase = .attaching(login, Attaching(step: .boxSignIn(provider: id), call: call))
      }
    }
  }

  /// Shows the app's own picker, because the app does not implement the picker for the box's shared account.
  mutating func dialogUnhandled(_ dialog: ProviderDialog) {
    guard case .presenting(let login, let presented) = phase, presented.dialog == dialog else { return }
    dismiss(presented)
    fallBack(login, nil)
  }

  /// Treats the picker for the box's shared account as cancelled, because the app has not answered in time.
  mutating func dialogDeadlinePassed(_ timer: TimerID) -> Bool {
    guard case .presenting(let login, let presented) = phase, presented.deadline == timer else { return false }
    dismiss(presented)
    fallBack(login, PlatformTrouble(id: .pickerCancelled))
    return true
  }

  // MARK: Signing the box in

  private mutating func boxSignInBegan(_ answer: ServiceAnswer, _ login: Login) {
    switch answer {
    case .platform(.code(let signIn, let after, let offer)):
      let call = ask(.news(signIn: signIn, after: after), for: .login)
      phase = .sharing(login, BoxCode(signIn: signIn, offer: offer, last: after, call: call))
      tellCode(offer)
    // The box needed no code, or another of its apps has signed it in meanwhile.
    case .platform(.news), .platform(.status): attach(login, isAfterBoxSignIn: true)
    case .platform(.refused(.denied, _)): fallBack(login, .denied)
    case .platform(.refused(.undetermined, _)): fallBack(login, .undetermined)
    case .platform(.refused(_, let why)): fallBack(login, PlatformTrouble(id: .platformAccount, context: why))
    default:
      guard case .silent(let why) = standing(answer) else { return fallBack(login, nil) }
      fallBack(login, PlatformTrouble(id: .platformRequestFailed, context: why))
    }
  }

  mutating func boxNewsCame(_ answer: ServiceAnswer, _ login: Login, _ code: BoxCode) {
    guard case .platform(.news(let news)) = answer else {
      let why: String = if case .silent(let why) = standing(answer) { why } else { "the daemon is gone" }
      return fallBack(login, PlatformTrouble(id: .platformRequestFailed, context: why))
    }
    if news.isOpened, !code.isOpened || news.match != nil { tellPhoneConnected(news.match) }
    switch news.end {
    case .authenticated: attach(login, isAfterBoxSignIn: true)
    case .denied: end(login, .genericAuthentication, Self.denied)
    case .expired: end(login, .genericAuthentication, Self.codeExpired)
    case .failed:
      fallBack(login, PlatformTrouble(id: .platformAccount, context: "the box could not be signed in"))
    case nil:
      var code = code
      code.isOpened = code.isOpened || news.isOpened
      code.last = news.last
      code.call = ask(.news(signIn: code.signIn, after: news.last), for: .login)
      phase = .sharing(login, code)
    }
  }
}

extension ProviderDialog {
  static let usualTitle = "TV provider"

  /// Applies a filter to the providers, in the filter's order.
  ///
  /// A filter that leaves no provider is ignored.
  init(filtering providers: [MVPD], with filter: ProviderFilter?) {
    func named(_ ids: [String]) -> [MVPD] {
      ids.compactMap { id in providers.first { $0.id.isSameText(as: id) } }
    }
    let chosen = filter?.providers.map(named) ?? providers
    let shown = chosen.isEmpty ? providers : chosen
    let featured = named(filter?.featured ?? []).filter { one in shown.contains { $0.id.isSameText(as: one.id) } }
    self.init(
      title: Self.usualTitle, providers: shown,
      featured: filter == nil ? shown.filter(\.isFeatured) : featured)
  }
}
