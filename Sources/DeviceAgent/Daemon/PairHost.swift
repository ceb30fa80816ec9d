import CommandKit
import RegentCryptography
import RegentJSON
import RegentPlatform

/// The options of a sign-in that a local program requests.
struct PairOrder: Sendable, Equatable {
  var isForced = false
  var numberMatching = false
  /// The lifetime of a code in milliseconds, or `nil` for the service's default.
  var lifetime: Int64?
  /// The viewer's data for a promotional pass, such as an e-mail address.
  var data: [String: String] = [:]
  /// The name of another OAuth server in `regent oauth list`, or `nil` for the box's own sign-in.
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

/// Runs the sign-in that the daemon does for a local program.
///
/// The program, such as a launcher, shows the code, and the daemon keeps the tokens.
///
/// There is one sign-in at a time, because a box has one code. A program that connects again joins the sign-in of its
/// user. Another user is refused while the first program still polls. A sign-in that the box's apps started for the
/// shared account never interrupts another sign-in, and every other program may replace it. A sign-in for which no
/// program has polled during ``patience`` is withdrawn, because its code is not on any screen.
actor PairHost {
  typealias NewLink = @Sendable (PairOrder) throws(CommandError) -> any PairLink

  /// The events of one sign-in since an earlier request.
  struct Progress: Sendable {
    let events: [LinkEvent]
    /// The number of the last event, to send as `after` in the next request.
    let last: Int
  }

  private struct Running {
    let id: String
    let user: UInt32
    let order: PairOrder
    let link: any PairLink
    /// Whether only apps, which want to use the box's shared account, have asked for this sign-in.
    var isOfApps: Bool
    var events: [LinkEvent] = []
    /// How many events were dropped because the program did not poll.
    var forgotten = 0
    var providers: LinkEvent?
    var isCodeShown = false
    var heard: UInt64
    var waiting: [CheckedContinuation<Void, Never>] = []
    var tasks: [Task<Void, Never>] = []
  }

  /// How many events of a sign-in are kept for a program that does not poll.
  static let mostEvents = 64
  /// How many long polls of one sign-in are held at a time.
  static let mostWaiting = 8
  /// The most codes in an hour, so that a broken launcher cannot exhaust the box's limit at the service.
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

  /// Sets the work to do after the box was signed in.
  func onSignIn(_ work: @escaping @Sendable () async -> Void) { signedIn = work }

  /// Starts a sign-in, or joins the one that the same user started with the same options.
  ///
  /// - Returns: the id of the sign-in, and the number of the event after which to poll for new ones.
  func begin(
    _ order: PairOrder, by user: UInt32, for app: String? = nil
  ) async throws(CommandError) -> (id: String, after: Int) {
    if let joined = join(order, user) {
      if app == nil { running?.isOfApps = false }
      return joined
    }
    if let running { try mayReplace(running, user, isApp: app != nil) }
    if let app { try appCodes.take(app, now: clock()) }
    // While the earlier sign-in is withdrawn, another program may begin one, which must not get lost.
    while let running {
      try mayReplace(running, user, isApp: app != nil)
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

  /// Requests a registration code.
  ///
  /// If a program joins a sign-in while its code is shown, that code stays valid.
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

  /// The events after `last`.
  ///
  /// Waits for one for at most ``hold``, or less if the program asks for a shorter `wait`.
  func news(
    of id: String, after last: Int, wait: Duration? = nil, by user: UInt32
  ) async throws(CommandError) -> Progress {
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
    guard let running else { return Progress(events: [], last: last) }
    let known = max(0, last - running.forgotten)
    return Progress(
      events: Array(running.events.dropFirst(known)), last: running.forgotten + running.events.count)
  }

  /// Ends the sign-in and withdraws its code.
  ///
  /// With `forApps`, only if no program other than the apps has joined the sign-in.
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

  /// Throws when a program still polls for a sign-in that this user, or an app, must not replace.
  private func mayReplace(_ running: Running, _ user: UInt32, isApp: Bool) throws(CommandError) {
    guard !running.isOfApps, isHeard(running) else { return }
    guard !isApp else {
      throw CommandError(
        "a sign-in of this box is already in progress", hint: "wait until it ends, at most a minute", code: "busy")
    }
    guard running.user == user else {
      throw CommandError(
        "another user is signing this box in", hint: "wait until it ends, at most a minute", code: "busy")
    }
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
