import AccessEnabler

/// Which app is asked about on the box, as values: one question at a time, each app once a minute for each kind of
/// question, and never one that was denied.
///
/// Nothing here grows: one question, and two times for each app of `agent.conf`.
struct PromptBook: Sendable, Equatable {
  /// What an app wants of the viewer.
  enum Kind: String, Sendable, Hashable {
    /// To use the box's account.
    case access
    /// That the box be signed out: an app that is in by it cannot do that itself.
    case signOut = "sign-out"

    /// Only who may use the account has a reason to want its end, and only who may not to ask for it.
    func isOpen(to permission: PlatformPermission) -> Bool {
      permission == (self == .access ? .undetermined : .granted)
    }
  }

  struct Question: Sendable, Equatable {
    let id: Int
    let who: AppRequestor
    let kind: Kind
    /// When nobody has answered it until then it is over, and nothing is decided.
    let deadline: UInt64
  }

  enum Asked: Sendable, Equatable {
    /// It is, or was already, on the screen.
    case open(Question)
    /// Another app's question is on the screen.
    case another
    /// This app asked less than a minute ago.
    case tooSoon
    /// There is nothing to ask.
    case decided
  }

  /// In nanoseconds: how long a question stays, and how long an app waits for the next one after the end of one that
  /// nobody answered: else one app could have the only place for ever.
  static let patience: UInt64 = 60_000_000_000
  static let pause: UInt64 = 60_000_000_000

  private(set) var open: Question?
  private var lastAsked: [Asker: UInt64] = [:]
  private var lastID = 0

  /// An app wants the viewer to be asked; `now` is the time since the machine's start.
  mutating func ask(
    _ who: AppRequestor, _ permission: PlatformPermission, _ kind: Kind = .access, now: UInt64
  ) -> Asked {
    forget(now: now)
    guard kind.isOpen(to: permission) else { return .decided }
    if let open { return open.who == who && open.kind == kind ? .open(open) : .another }
    let asker = Asker(app: who.app, kind: kind)
    if let last = lastAsked[asker], now - min(now, last) < Self.pause { return .tooSoon }
    lastAsked[asker] = now
    lastID += 1
    let question = Question(id: lastID, who: who, kind: kind, deadline: now + Self.patience)
    open = question
    return .open(question)
  }

  /// Somebody decided about that app, in answer to the question or by themselves.
  mutating func decided(_ who: AppRequestor) {
    if open?.who == who { open = nil }
  }

  /// The box was signed out: whoever wanted that has it.
  mutating func signedOut() {
    if open?.kind == .signOut { open = nil }
  }

  /// The viewer does not want to answer that question.
  mutating func dismiss(_ id: Int) {
    if open?.id == id { open = nil }
  }

  private struct Asker: Hashable {
    let app: String
    let kind: Kind
  }

  /// Takes a question away whose time is over.
  mutating func forget(now: UInt64) {
    guard let open, now >= open.deadline else { return }
    lastAsked[Asker(app: open.who.app, kind: open.kind)] = open.deadline
    self.open = nil
  }
}
