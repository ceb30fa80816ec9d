import CommandKit
import RegentPlatform

/// The state machine of the pairing screen.
///
/// It takes inputs and the time, and returns effects; it does no I/O.
struct PairModel: Sendable {
  var view = PairView()
  let mode: PairMode
  var provider: String?
  var providers: [ProviderEntry] = []
  var lastProvider: String?
  /// The stage behind the provider picker, while the picker is open.
  var covered: PairStage?
  var budget = CodeBudget()
  var renewAt: Int64?
  var endAt: Int64?
  /// When a code was last requested, and when to send the next request if one was made within ``askingPause``.
  var askedAt: Int64?
  var askAgainAt: Int64?

  /// How long a denied or expired code that a phone had opened stays on the screen, in milliseconds.
  static let readingTime: Int64 = 60_000
  /// The pause before an ended code that no phone had opened is replaced, in milliseconds.
  ///
  /// Another program of this box may have replaced the code with its own. After the pause that code is stored on disk,
  /// and this program shows it too. Without the pause, two programs would withdraw each other's codes for ever.
  static let settlingTime: Int64 = 1_000
  /// The shortest time between two requested codes, in milliseconds, so that a key that is held down requests one code.
  static let askingPause: Int64 = 1_000
  /// How long the success message stays on the screen, in milliseconds.
  static let farewellTime: Int64 = 4_000

  /// Creates a sign-in that has not started, with the provider if it is already known.
  init(mode: PairMode, provider: String? = nil, product: String = "Regent") {
    self.mode = mode
    self.provider = provider
    view.product = product
    view.hasKeys = mode == .attended
  }

  /// Sets where the QR code is drawn and whether keys can be pressed, once the terminal is known.
  mutating func show(picture: PictureMode, hasKeys: Bool) {
    view.picture = picture
    view.hasKeys = hasKeys
  }

  mutating func start(now: Int64) -> [PairEffect] { requestCode(now: now) }

  mutating func handle(_ input: PairInput, now: Int64) -> [PairEffect] {
    switch input {
    case .link(let event): handle(event, now: now)
    case .key(let key): handle(key, now: now)
    case .renew: renew(now: now, isAsked: true)
    case .stop: [.end(codeForQuitting)]
    // The launcher has ended. The code stays valid, and a launcher that restarts gets the same code.
    case .unheard: [.end(.failed)]
    case .tick: tick(now: now)
    case .redraw: []
    case .keysEnded: keysEnded()
    }
  }

  /// The next time at which the state changes without an input, except for the time bar.
  func nextDeadline() -> Int64? {
    [renewAt, endAt, askAgainAt, view.stage.code?.deadline].compactMap(\.self).min()
  }

  /// The exit code if the program ends now.
  var codeForQuitting: ExitCode {
    switch view.stage {
    case .signedIn: .done
    case .denied, .deniedAtNumber: .denied
    case .expired: .expired
    case .failed(.offline, _), .failed(.portal, _), .failed(.certificate, _), .failed(.busy(_), _): .unreachable
    case .failed: .failed
    case .starting, .resting: view.trouble == nil ? .notSignedIn : .unreachable
    case .choosing, .waiting, .connected, .number: .notSignedIn
    }
  }
}

extension PairModel {
  private mutating func handle(_ event: LinkEvent, now: Int64) -> [PairEffect] {
    switch event {
    case .providers(let found, let last):
      providers = found
      lastProvider = last
      view.canChooseProvider = found.count > 1
      return []
    case .code(let code):
      view.trouble = nil
      renewAt = nil
      uncover(.waiting(code))
      return [.tell(.code(code))]
    case .opened:
      guard let code = currentCode, !isOpen else { return [] }
      uncover(.connected(code))
      return [.tell(.opened)]
    case .match(let number):
      guard let code = currentCode, stage != .number(code, number) else { return [] }
      uncover(.number(code, number))
      return [.tell(.match(number))]
    case .authenticated(let name, let provider):
      return signedIn(
        name, provider, .authenticated(name: name, provider: provider), endsAtOnce: mode == .once,
        now: now)
    case .alreadySignedIn(_, let known, let id?) where mode != .unattended && isElsewhere(id):
      let wanted = provider ?? ""
      let failure = AgentFailure(
        code: "signed-in-elsewhere", message: "this box is signed in with \(known ?? id), not with \(wanted)",
        hint: "sign in there instead: regent pair --provider \(wanted) --force", trouble: .service)
      return [.tell(.error(failure)), .end(.failed)]
    case .alreadySignedIn(let name, let provider, _):
      // A person who typed the command reads the outcome as a line, so the program ends. On an unattended screen the
      // success message stays for a while.
      return signedIn(
        name, provider, .alreadySignedIn(name: name, provider: provider),
        endsAtOnce: mode != .unattended, now: now)
    case .denied:
      if case .number = stage {
        return end(with: .deniedAtNumber, .tell(.deniedAtNumber), code: .denied, now: now)
      }
      return end(with: .denied, .tell(.denied), code: .denied, now: now)
    case .expired: return codeExpired(now: now)
    case .withdrawn: return codeWithdrawn(now: now)
    case .trouble(let failure) where failure.trouble == .accountDisabled:
      // The code stays usable, because the viewer may sign in with another account.
      if view.isAccountDisabled { return [] }
      view.isAccountDisabled = true
      return [.tell(.error(failure))]
    case .trouble(let failure):
      let isNew = view.trouble.map { !$0.isSameKind(as: failure.trouble) } ?? true
      view.trouble = failure.trouble
      return isNew ? [.tell(.error(failure))] : []
    case .recovered:
      view.trouble = nil
      return []
    case .failed(let failure):
      let wasKnown = view.trouble == failure.trouble
      view.trouble = nil
      uncover(.failed(failure.trouble, hint: failure.hint))
      let tell: [PairEffect] = wasKnown ? [] : [.tell(.error(failure))]
      if mode == .once { return tell + [.end(codeForQuitting)] }
      if mode == .unattended { renewAt = now + Self.readingTime }
      return tell
    }
  }

  /// Whether the viewer named another provider than the one with this id.
  private func isElsewhere(_ id: String) -> Bool { provider.map { $0 != id } ?? false }

  private mutating func signedIn(
    _ name: String?, _ provider: String?, _ event: PairEvent, endsAtOnce: Bool, now: Int64
  ) -> [PairEffect] {
    view.trouble = nil
    view.isAccountDisabled = false
    uncover(.signedIn(name: name, provider: provider))
    renewAt = nil
    askAgainAt = nil
    if endsAtOnce { return [.tell(event), .end(.done)] }
    endAt = now + Self.farewellTime
    return [.tell(event)]
  }

  private mutating func codeExpired(now: Int64) -> [PairEffect] {
    let wasOpen = isOpen
    guard currentCode != nil else { return [] }
    let effects = end(with: .expired, .tell(.expired), code: .expired, now: now)
    // No phone had opened the expired code, so the screen shows no message.
    if mode == .unattended, !wasOpen { renewAt = now + Self.settlingTime }
    return effects
  }

  /// Replaces a code that was withdrawn before a phone opened it, without a message.
  ///
  /// A cancelled request for another code may have reached the service last and withdrawn this code. The new codes
  /// count against the budget for automatic codes.
  private mutating func codeWithdrawn(now: Int64) -> [PairEffect] {
    guard currentCode != nil, !isOpen, budget.allowsAnother(at: now) else {
      return codeExpired(now: now)
    }
    uncover(.starting)
    renewAt = now + Self.settlingTime
    return []
  }

  private mutating func end(
    with stage: PairStage, _ tell: PairEffect, code: ExitCode, now: Int64
  ) -> [PairEffect] {
    uncover(stage)
    switch mode {
    case .once: return [tell, .end(code)]
    case .attended: return [tell]
    case .unattended:
      renewAt = now + Self.readingTime
      return [tell]
    }
  }

  mutating func renew(now: Int64, isAsked: Bool) -> [PairEffect] {
    if case .signedIn = view.stage { return [] }
    renewAt = nil
    if isAsked {
      budget = CodeBudget()
      if let askedAt, now - askedAt < Self.askingPause {
        askAgainAt = askedAt + Self.askingPause
        uncover(.starting)
        return []
      }
    } else if !budget.allowsAnother(at: now) {
      uncover(.resting)
      return []
    }
    return requestCode(now: now)
  }

  private mutating func requestCode(now: Int64) -> [PairEffect] {
    budget.count(at: now)
    askedAt = now
    askAgainAt = nil
    uncover(.starting)
    return [.requestCode(provider: provider)]
  }

  private mutating func tick(now: Int64) -> [PairEffect] {
    if let endAt, now >= endAt { return [.end(.done)] }
    if let askAgainAt, now >= askAgainAt { return requestCode(now: now) }
    if let renewAt, now >= renewAt { return renew(now: now, isAsked: false) }
    // The service may be unreachable, so the screen must not go on showing an expired code.
    if let code = currentCode, now >= code.deadline { return codeExpired(now: now) }
    return []
  }

  private mutating func keysEnded() -> [PairEffect] {
    view.hasKeys = false
    return []
  }

  private var currentCode: ShownCode? { stage.code }

  /// The current stage, even while a provider picker covers it.
  var stage: PairStage { covered ?? view.stage }

  private var isOpen: Bool {
    switch stage {
    case .connected, .number: true
    case .starting, .choosing, .waiting, .signedIn, .denied, .deniedAtNumber, .expired, .resting,
      .failed:
      false
    }
  }

  /// Shows a new stage and closes an open picker, unless only the code behind the picker changes.
  private mutating func uncover(_ new: PairStage) {
    switch new {
    case .waiting where covered != nil, .starting where covered != nil: covered = new
    default:
      covered = nil
      view.stage = new
    }
  }
}
