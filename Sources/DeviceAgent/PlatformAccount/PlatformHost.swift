import AccessEnabler
import CommandKit
import RegentPlatform

/// The platform account in the daemon: how each app stands, what the viewer is asked, and the box's word.
///
/// What an app may is decided by ``PermissionStore``, what it is asked about by ``PromptBook``; this waits and
/// performs.
actor PlatformHost {
  /// How an app's question to the viewer went.
  enum Asked: String, Sendable { case open, another, tooSoon = "too-soon", decided }

  /// Apps that wait for the viewer, and launchers that wait for a question; more are answered at once.
  static let mostWaiting = 64
  /// Of them for all apps together, so that launchers have places, and for one app.
  static let mostOfApps = 48
  static let mostOfOneApp = 4

  private let permissions: PermissionStore
  private let account: any BoxAccount
  private let sync: DecisionSync
  private let clock: @Sendable () -> UInt64
  private var book = PromptBook()
  private var waiting: [Int: Waiter] = [:]
  private var lastWaiter = 0
  private var refusals = RefusalBook()

  init(
    _ permissions: PermissionStore, _ account: any BoxAccount,
    clock: @escaping @Sendable () -> UInt64 = { Clocks.bootNanoseconds() }
  ) {
    self.permissions = permissions
    self.account = account
    self.clock = clock
    sync = DecisionSync(permissions, account)
  }

  /// Listens for what is decided on "my screens"; again at each question, once somebody is signed in on the box.
  func followDecisions() async { _ = try? await current() }

  private func current() async throws(CommandError) -> SignInFacts? {
    await sync.onNews { [weak self] changed in
      await self?.tookOver(changed)
    } end: { [weak self] in
      await self?.signedOut()
    }
    return try await sync.current()
  }

  /// Has the service say whether somebody is signed in after all, when nobody is here; waits for so long at most.
  func lookAgain(within patience: Duration) async {
    if (try? await current()) != nil { return }
    let (waiting, end) = AsyncStream.makeStream(of: Void.self)
    Task { [sync] in
      await sync.lookAgain()
      end.finish()
    }
    let alarm = Task {
      try? await Task.sleep(for: patience)
      end.finish()
    }
    for await _ in waiting {}
    alarm.cancel()
  }

  /// Why the service lets no app use the account, as it last said.
  var refusal: String? { get async { await sync.refusal } }

  /// Ends what goes on without a question.
  func stop() async { await sync.stop() }

  private func tookOver(_ changed: [AppRequestor]) {
    for who in changed { book.decided(who) }
    wake()
  }

  private func signedOut() {
    book.signedOut()
    wake()
  }

  // MARK: What apps ask

  func standing(of who: AppRequestor) async -> AppStanding {
    let account = await account()
    return AppStanding(
      who: who, permission: permissions.permission(of: who), signIn: account.signIn, failure: account.failure)
  }

  /// Asks the viewer when nobody has decided, and waits for the answer for at most so long.
  func ask(_ who: AppRequestor, wait: Duration) async -> Asked {
    await ask(who, .access, wait: wait)
  }

  /// Asks the viewer to sign the box out, for an app that is in by its account, and waits for at most so long.
  func askToSignOut(_ who: AppRequestor, wait: Duration) async throws(CommandError) -> Asked {
    guard try await current() != nil else { return .decided }
    return await ask(who, .signOut, wait: wait)
  }

  private func ask(_ who: AppRequestor, _ kind: PromptBook.Kind, wait: Duration) async -> Asked {
    _ = try? await current()
    switch book.ask(who, permissions.permission(of: who), kind, now: clock()) {
    case .another: return .another
    case .tooSoon: return .tooSoon
    case .decided: return .decided
    case .open(let question):
      wake()
      if kind == .access { await sync.tell(question: who) }
      await answered(question, wait)
      return .open
    }
  }

  /// Waits until a question is off the screen.
  private func answered(_ question: PromptBook.Question, _ wait: Duration) async {
    let end = clock() + UInt64(max(0, wait.components.seconds)) * 1_000_000_000
    while book.open?.id == question.id {
      let now = clock()
      guard now < end, await sleep(.nanoseconds(Int64(end - now)), for: question.who.app) else { break }
    }
  }

  /// The viewer leaves a question open.
  func dismiss(_ question: Int) {
    book.dismiss(question)
    wake()
  }

  /// The box's word for an app that may have it.
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> (signIn: SignInFacts, assertion: String) {
    try require(who)
    let current = try await current()
    // The account may be another viewer's now.
    try require(who)
    guard let signIn = current else {
      throw CommandError("this box is not signed in", hint: "sign in: regent sso sign-in", code: "not-signed-in")
    }
    guard signIn.provider.utf8.elementsEqual(provider.utf8) else {
      throw CommandError("the box is signed in with another provider", code: "no-assertion")
    }
    let assertion = try await account.assertion(to: profileRequest, provider: provider, for: who)
    // The viewer may have taken it away meanwhile.
    try require(who)
    return (signIn, assertion)
  }

  /// Throws unless the viewer lets an app use the account.
  func check(_ who: AppRequestor) async throws(CommandError) {
    _ = try await current()
    try require(who)
  }

  private func require(_ who: AppRequestor) throws(CommandError) {
    let permission = permissions.permission(of: who)
    guard permission != .granted else { return }
    throw CommandError(
      "app \(who.app) may not use the box's account for \(who.requestor): "
        + (permission == .denied ? "the viewer denied it" : "the viewer has not decided"),
      hint: "the viewer can allow it: regent sso grant \(who.app) --for \(who.requestor)", code: permission.rawValue)
  }

  func picker() async throws(CommandError) -> [ProviderEntry] { try await account.picker() }

  // MARK: What the viewer and the box's owner do

  /// Who is signed in on the box, or why that cannot be said.
  func account() async -> (signIn: SignInFacts?, failure: String?) {
    do throws(CommandError) {
      return (try await current(), nil)
    } catch {
      return (nil, error.message)
    }
  }

  var decisions: [AppRequestor: PlatformPermission] { permissions.decisions }

  /// Decides, durably, and at once for everybody.
  func decide(_ permission: PlatformPermission, _ who: AppRequestor) async throws(CommandError) {
    // What is decided is about the account that is there now.
    _ = try? await current()
    let kept = Result { () throws(CommandError) in try permissions.decide(permission, who) }
    book.decided(who)
    wake()
    // Also a no that could not be kept: the service keeps it.
    await sync.tell()
    _ = try kept.get()
  }

  /// The question on the screen; held until there is another one than that, or for so long.
  func prompt(after last: Int, wait: Duration) async -> PromptBook.Question? {
    let end = clock() + UInt64(max(0, wait.components.seconds)) * 1_000_000_000
    while true {
      let now = clock()
      book.forget(now: now)
      if let open = book.open, open.id != last { return open }
      guard now < end, await sleep(.nanoseconds(Int64(end - now))) else { return nil }
    }
  }

  /// Signs the box out; every app that came in by it is out at its next check.
  func signOut() async throws(CommandError) -> SignOutEnd {
    defer { signedOut() }
    return try await account.signOut()
  }

  // MARK: Who was refused

  func note(refused user: UInt32, _ requestor: String) { refusals.note(user, requestor) }
  var refused: [RefusalBook.Refusal] { refusals.latest }

  // MARK: Waiting

  /// Sleeps until something is decided or asked, for so long at most.
  ///
  /// - Returns: false when too many wait already.
  private func sleep(_ longest: Duration, for app: String? = nil) async -> Bool {
    guard waiting.count < Self.mostWaiting else { return false }
    if let app {
      let apps = waiting.values.compactMap(\.app)
      guard apps.count < Self.mostOfApps, apps.count(where: { $0 == app }) < Self.mostOfOneApp else { return false }
    }
    lastWaiter += 1
    let id = lastWaiter
    let alarm = Task {
      try? await Task.sleep(for: longest)
      wake(id)
    }
    await withCheckedContinuation { waiting[id] = Waiter(app: app, end: $0) }
    alarm.cancel()
    return true
  }

  private func wake(_ id: Int) { waiting.removeValue(forKey: id)?.end.resume() }

  private func wake() {
    let all = waiting
    waiting = [:]
    for one in all.values { one.end.resume() }
  }

  private struct Waiter {
    /// The app whose answer is held; none for a launcher's.
    let app: String?
    let end: CheckedContinuation<Void, Never>
  }
}

/// The programs that were no app, as values: the latest few, for the doctor.
struct RefusalBook: Sendable {
  struct Refusal: Sendable, Equatable {
    let user: UInt32
    let requestor: String
    var count: Int
  }

  static let most = 16
  private(set) var latest: [Refusal] = []

  mutating func note(_ user: UInt32, _ requestor: String) {
    let requestor = String(requestor.prefix(64))
    var refusal = Refusal(user: user, requestor: requestor, count: 1)
    if let place = latest.firstIndex(where: { $0.user == user && $0.requestor == requestor }) {
      refusal.count = latest.remove(at: place).count + 1
    }
    latest.append(refusal)
    if latest.count > Self.most { latest.removeFirst() }
  }
}
