import AccessEnabler

/// Decides when the viewer is asked about an app: one question at a time, each app at most once a minute for each kind
/// of question, and never for a permission that was denied.
///
/// The memory is bounded: one question, and two times for each app of `agent.conf`.
struct PromptBook: Sendable, Equatable {
  /// The kind of question that an app asks the viewer.
  enum Kind: String, Sendable, Hashable {
    /// The app asks for permission to use the box's account.
    case access
    /// The app asks the viewer to sign the box out, which an app that uses the account cannot do itself.
    case signOut = "sign-out"

    /// Whether an app with this permission may ask the viewer.
    ///
    /// Only an app with a permission may ask for a sign-out, and only an app without a decision may ask for access.
    func isOpen(to permission: PlatformPermission) -> Bool {
      permission == (self == .access ? .undetermined : .granted)
    }
  }

  struct Question: Sendable, Equatable {
    let id: Int
    let who: AppRequestor
    let kind: Kind
    /// When the question expires without a decision, in nanoseconds since boot.
    let deadline: UInt64
  }

  enum Asked: Sendable, Equatable {
    /// The app's question is open now.
    case open(Question)
    /// The question of another app is open, so this one must wait.
    case another
    /// This app asked less than a minute ago.
    case tooSoon
    /// The viewer has decided already.
    case decided
  }

  /// How long a question stays open, and how long an app must wait after its question expired, in nanoseconds.
  ///
  /// Without that pause, one app could keep all others from asking.
  static let patience: UInt64 = 60_000_000_000
  static let pause: UInt64 = 60_000_000_000

  private(set) var open: Question?
  private var lastAsked: [Asker: UInt64] = [:]
  private var lastID = 0

  /// Handles an app's question to the viewer; `now` is the time since boot in nanoseconds.
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

  /// Closes the app's question because the viewer decided about the app.
  mutating func decided(_ who: AppRequestor) {
    if open?.who == who { open = nil }
  }

  /// Closes a question about signing out because the box was signed out.
  mutating func signedOut() {
    if open?.kind == .signOut { open = nil }
  }

  /// Closes a question because the viewer dismissed it.
  mutating func dismiss(_ id: Int) {
    if open?.id == id { open = nil }
  }

  private struct Asker: Hashable {
    let app: String
    let kind: Kind
  }

  /// Closes the question if it has expired.
  mutating func forget(now: UInt64) {
    guard let open, now >= open.deadline else { return }
    lastAsked[Asker(app: open.who.app, kind: open.kind)] = open.deadline
    self.open = nil
  }
}
