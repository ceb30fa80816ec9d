import CommandKit
import RegentPlatform

/// The life of the screen as a pure machine: input and time in, view and effects out.
struct PairModel: Sendable {
  var view = PairView()
  let mode: PairMode
  var provider: String?
  var providers: [ProviderEntry] = []
  var lastProvider: String?
  /// The stage that a picker covers.
  var covered: PairStage?
  var budget = CodeBudget()
  var renewAt: Int64?
  var endAt: Int64?
  /// When a code was asked for last, and when the next is, if somebody asked for one too soon after it.
  var askedAt: Int64?
  var askAgainAt: Int64?

  /// A denied or expired code that somebody had open stays to be read for so long.
  static let readingTime: Int64 = 60_000
  /// A code that nobody had open is replaced after so long.
  ///
  /// Not at once: another program of this box may have taken its place with a code of its own. That one is on disk by
  /// then, and is shown here, too; two programs that make codes at once would take them from each other for ever.
  static let settlingTime: Int64 = 1_000
  /// A key that is held down, or a signal that comes again and again, makes one code in this time; the last request
  /// counts.
  static let askingPause: Int64 = 1_000
  /// The good news stays on the screen for so long.
  static let farewellTime: Int64 = 4_000

  /// A sign-in that has not begun, with the provider that was settled beforehand.
  init(mode: PairMode, provider: String? = nil, product: String = "Regent") {
    self.mode = mode
    self.provider = provider
    view.product = product
    view.hasKeys = mode == .attended
  }

  /// Where the picture goes and whether keys can come, known once the terminal is.
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
    // The code stays good: the launcher that comes back gets it again.
    case .unheard: [.end(.failed)]
    case .tick: tick(now: now)
    case .redraw: []
    case .keysEnded: keysEnded()
    }
  }

  /// When time alone changes something, besides the bar.
  func nextDeadline() -> Int64? {
    [renewAt, endAt, askAgainAt, view.stage.code?.deadline].compactMap(\.self).min()
  }

  /// How the program ends when it ends now.
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
    case .alreadySignedIn(let name, let provider):
      // Whoever typed the command reads the lines; a screen without a keyboard shows that all is well.
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

  private mutating func signedIn(
    _ name: String?, _ provider: String?, _ event: PairEvent, endsAtOnce: Bool, now: Int64
  ) -> [PairEffect] {
    view.trouble = nil
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
    // Nobody had it open, so nobody has to be told.
    if mode == .unattended, !wasOpen { renewAt = now + Self.settlingTime }
    return effects
  }

  /// Replaces a code that was taken back before anybody opened it, without a word.
  ///
  /// A request for a code that was given up may have reached the service last. Bounded as all codes that nobody asked
  /// for.
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
    // The service may be out of reach: a code whose time is over is not shown as if it worked.
    if let code = currentCode, now >= code.deadline { return codeExpired(now: now) }
    return []
  }

  private mutating func keysEnded() -> [PairEffect] {
    view.hasKeys = false
    return []
  }

  private var currentCode: ShownCode? { stage.code }

  /// The stage itself, also while a picker covers it.
  var stage: PairStage { covered ?? view.stage }

  private var isOpen: Bool {
    switch stage {
    case .connected, .number: true
    case .starting, .choosing, .waiting, .signedIn, .denied, .deniedAtNumber, .expired, .resting,
      .failed:
      false
    }
  }

  /// A new stage; it takes the place of a picker too, except that codes come and go behind one.
  private mutating func uncover(_ new: PairStage) {
    switch new {
    case .waiting where covered != nil, .starting where covered != nil: covered = new
    default:
      covered = nil
      view.stage = new
    }
  }
}
