import AccessEnabler

/// Which app is asked about on the box, as values: one question at a time, each app once a minute, and never one that
/// was denied.
///
/// Nothing here grows: one question, and one time for each app of `agent.conf`.
struct PromptBook: Sendable, Equatable {
  struct Question: Sendable, Equatable {
    let id: Int
    let who: AppRequestor
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

  /// In nanoseconds: how long a question stays, and how long an app waits for the next one.
  static let patience: UInt64 = 60_000_000_000
  static let pause: UInt64 = 60_000_000_000

  private(set) var open: Question?
  private var lastAsked: [String: UInt64] = [:]
  private var lastID = 0

  /// An app wants the viewer to be asked; `now` is the time since the machine's start.
  mutating func ask(_ who: AppRequestor, _ permission: PlatformPermission, now: UInt64) -> Asked {
    forget(now: now)
    guard permission == .undetermined else { return .decided }
    if let open { return open.who == who ? .open(open) : .another }
    if let last = lastAsked[who.app], now - min(now, last) < Self.pause { return .tooSoon }
    lastAsked[who.app] = now
    lastID += 1
    let question = Question(id: lastID, who: who, deadline: now + Self.patience)
    open = question
    return .open(question)
  }

  /// Somebody decided about that app, in answer to the question or by themselves.
  mutating func decided(_ who: AppRequestor) {
    if open?.who == who { open = nil }
  }

  /// Takes a question away whose time is over.
  mutating func forget(now: UInt64) {
    if let open, now >= open.deadline { self.open = nil }
  }
}
