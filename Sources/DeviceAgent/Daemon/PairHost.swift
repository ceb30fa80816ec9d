import CommandKit
import RegentCryptography
import RegentJSON
import RegentPlatform

/// How a local program wants this box signed in.
struct PairOrder: Sendable, Equatable {
  var isForced = false
  var numberMatching = false
  /// How long a code lives, in milliseconds; the service decides when there is none.
  var lifetime: Int64?
  /// What a promotional pass wants to know, by name.
  var data: [String: String] = [:]
  /// At which other service, by its name in `regent oauth list`; none for the box's own sign-in.
  var oauth: String?

  var document: JSONObject {
    var object: JSONObject = ["force": .bool(isForced), "numberMatching": .bool(numberMatching)]
    if let lifetime { object["lifetime"] = .integer(lifetime) }
    if let oauth { object["oauth"] = .string(oauth) }
    if !data.isEmpty {
      object["data"] = .object(
        JSONObject(data.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }))
    }
    return object
  }

  init(
    isForced: Bool = false, numberMatching: Bool = false, lifetime: Int64? = nil,
    data: [String: String] = [:], oauth: String? = nil
  ) {
    self.data = data
    self.oauth = oauth
    self.isForced = isForced
    self.numberMatching = numberMatching
    self.lifetime = lifetime
  }

  init(_ document: JSONValue) {
    isForced = document["force"]?.bool ?? false
    numberMatching = document["numberMatching"]?.bool ?? false
    lifetime = document["lifetime"]?.int64
    oauth = document["oauth"]?.string
    for member in document["data"]?.object?.members ?? [] { data[member.name] = member.value.string }
  }
}

/// The one sign-in that the daemon does for a local program: its launcher shows the code, the daemon keeps the tokens.
///
/// One at a time, because a box has one code. A program that comes back joins its own; another user's is refused while
/// somebody listens. One that apps of the box's account began takes nobody's place, and gives way to everybody. What
/// nobody asks about for ``patience`` is taken back: nobody shows that code any more.
actor PairHost {
  typealias NewLink = @Sendable (PairOrder) throws(CommandError) -> any PairLink

  /// The news of one sign-in.
  struct News: Sendable {
    let events: [LinkEvent]
    /// What to ask behind next time.
    let last: Int
  }

  private struct Running {
    let id: String
    let user: UInt32
    let order: PairOrder
    let link: any PairLink
    /// Whether apps of the box's account alone want it.
    var isOfApps: Bool
    var events: [LinkEvent] = []
    /// How many events were forgotten before the first of `events`.
    var forgotten = 0
    var providers: LinkEvent?
    var isCodeShown = false
    var heard: UInt64
    var waiting: [CheckedContinuation<Void, Never>] = []
    var tasks: [Task<Void, Never>] = []
  }

  /// Events that a program which does not ask may fall behind.
  static let mostEvents = 64
  /// Questions about one sign-in that are held at a time.
  static let mostWaiting = 8
  /// Codes in an hour: what the service would bear from a box whose launcher is broken.
  static let codesAnHour = 60

  private let newLink: NewLink
  private let patience: Duration
  private let hold: Duration
  private let clock: @Sendable () -> UInt64
  private var running: Running?
  private var codeTimes: [UInt64] = []
  private var appCodes = AppCodes()
  private var signedIn: (@Sendable () async -> Void)?

  init(
    patience: Duration = .seconds(60), hold: Duration = .seconds(25),
    clock: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() },
    newLink: @escaping NewLink
  ) {
    self.newLink = newLink
    self.patience = patience
    self.hold = hold
    self.clock = clock
  }

  /// What is to be done when somebody has signed the box in.
  func onSignIn(_ work: @escaping @Sendable () async -> Void) { signedIn = work }

  /// Begins a sign-in, or joins the one that the same user began in the same way.
  ///
  /// - Returns: its name, and behind which event its news begin.
  func begin(
    _ order: PairOrder, by user: UInt32, for app: String? = nil
  ) async throws(CommandError) -> (id: String, after: Int) {
    if let joined = join(order, user) {
      if app == nil { running?.isOfApps = false }
      return joined
    }
    if let app {
      if let running, isHeard(running), !running.isOfApps {
        throw CommandError(
          "a sign-in of this box is already in progress", hint: "wait until it ends, at most a minute", code: "busy")
      }
      try appCodes.take(app, now: clock())
    }
    if let running {
      guard running.user == user || running.isOfApps || !isHeard(running) else {
        throw CommandError(
          "another user is signing this box in", hint: "wait until it ends, at most a minute",
          code: "busy")
      }
      await end(running.id)
    }
    let link = try newLink(order)
    let id = Random.uuid()
    running = Running(id: id, user: user, order: order, link: link, isOfApps: app != nil, heard: clock())
    let events = link.events()
    running?.tasks = [
      Task { for await event in events { note(event, of: id) } },
      Task { await watch(id) },
    ]
    return (id, 0)
  }

  /// Asks for a code; while one is shown that was there before the program joined, that one goes on.
  func requestCode(_ id: String, _ provider: String?, isFirst: Bool, by user: UInt32) throws(CommandError) {
    try hear(id, user)
    if isFirst, running?.isCodeShown == true { return }
    let now = clock()
    codeTimes.removeAll { now - $0 >= 3_600_000_000_000 }
    guard codeTimes.count < Self.codesAnHour else {
      let message = "local programs requested \(Self.codesAnHour) codes within one hour, which is the limit"
      return note(
        .failed(
          AgentFailure(
            code: "busy", message: message, hint: "wait, or run sudo regent pair, which has no limit",
            trouble: .busy())), of: id)
    }
    codeTimes.append(now)
    running?.isCodeShown = false
    running?.link.requestCode(provider: provider)
  }

  /// What happened behind that event; held until something does, or a while: as long as the program wants to `wait` at
  /// most.
  func news(
    of id: String, after last: Int, wait: Duration? = nil, by user: UInt32
  ) async throws(CommandError) -> News {
    try hear(id, user)
    if let running, running.forgotten + running.events.count <= last {
      if running.waiting.count >= Self.mostWaiting { wake() }
      let hold = min(wait ?? hold, hold)
      let alarm = Task {
        try? await Task.sleep(for: hold)
        if !Task.isCancelled { wake() }
      }
      await withCheckedContinuation { self.running?.waiting.append($0) ?? $0.resume() }
      alarm.cancel()
    }
    try hear(id, user)
    guard let running else { return News(events: [], last: last) }
    let known = max(0, last - running.forgotten)
    return News(
      events: Array(running.events.dropFirst(known)), last: running.forgotten + running.events.count)
  }

  /// Ends it and takes its code back; for apps only while nobody else wants it.
  func withdraw(_ id: String, by user: UInt32, forApps: Bool = false) async throws(CommandError) {
    try hear(id, user)
    if forApps, running?.isOfApps == false { return }
    await end(id)
  }

  private func join(_ order: PairOrder, _ user: UInt32) -> (id: String, after: Int)? {
    guard let running, running.user == user, running.order == order, running.isCodeShown,
      let place = running.events.lastIndex(where: { if case .code = $0 { true } else { false } })
    else { return nil }
    self.running?.heard = clock()
    let after = running.forgotten + place
    if let providers = running.providers { note(providers, of: running.id) }
    return (running.id, after)
  }

  private func hear(_ id: String, _ user: UInt32) throws(CommandError) {
    guard let running, running.id == id, running.user == user else {
      throw CommandError(
        "this sign-in has ended: the program that started it stopped asking, or started another",
        hint: "start again: regent pair", code: "gone")
    }
    self.running?.heard = clock()
  }

  private func isHeard(_ running: Running) -> Bool {
    clock() - running.heard < UInt64(patience.components.seconds) * 1_000_000_000
  }

  private func note(_ event: LinkEvent, of id: String) {
    guard running?.id == id else { return }
    switch event {
    case .providers: running?.providers = event
    case .code: running?.isCodeShown = true
    case .authenticated, .alreadySignedIn, .denied, .expired, .withdrawn, .failed:
      running?.isCodeShown = false
      if case .authenticated = event, let signedIn { Task { await signedIn() } }
    case .opened, .match, .trouble, .recovered: break
    }
    running?.events.append(event)
    if let count = running?.events.count, count > Self.mostEvents {
      running?.events.removeFirst(count - Self.mostEvents)
      running?.forgotten += count - Self.mostEvents
    }
    wake()
  }

  private func wake() {
    let waiting = running?.waiting ?? []
    running?.waiting = []
    for one in waiting { one.resume() }
  }

  private func watch(_ id: String) async {
    while let running, running.id == id {
      guard isHeard(running) else { return await end(id) }
      try? await Task.sleep(for: patience / 4)
      if Task.isCancelled { return }
    }
  }

  private func end(_ id: String) async {
    guard let ended = running, ended.id == id else { return }
    wake()
    running = nil
    await ended.link.withdraw()
    for task in ended.tasks { task.cancel() }
  }
}
