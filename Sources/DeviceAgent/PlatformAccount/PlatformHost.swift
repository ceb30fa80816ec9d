import AccessEnabler
import CommandKit
import RegentEncodings
import RegentPairingWire
import RegentPlatform

/// The box's shared account (the platform account) in the daemon: the apps' permissions, the questions to the viewer,
/// and the signed answers to profile requests.
///
/// ``PermissionStore`` decides what an app may do, and ``PromptBook`` when the viewer is asked. This actor waits for
/// the viewer and performs the requests.
actor PlatformHost {
  /// The state of an app's question to the viewer.
  enum Asked: String, Sendable { case open, another, tooSoon = "too-soon", decided }

  /// The maximum number of held requests (long polls) of apps and launchers.
  ///
  /// Further ones are answered at once.
  static let mostWaiting = 64
  /// The maximum number of held requests of all apps together, so that some remain for launchers, and of one app.
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

  /// Why the decisions of an earlier run are lost; see ``PermissionStore/trouble``.
  var lostDecisions: String? { permissions.trouble }

  /// Starts the synchronization with the page "my screens".
  ///
  /// Once the box is signed in, every later request restarts the synchronization.
  func followDecisions() async { _ = try? await current() }

  private func current() async throws(CommandError) -> SignInFacts? {
    await sync.onNews { [weak self] changed in
      await self?.tookOver(changed)
    } end: { [weak self] in
      await self?.signedOut()
    }
    return try await sync.current()
  }

  /// Asks the service whether the box is signed in after all, if it seems signed out, and which apps it excludes.
  ///
  /// Waits for `patience` at most.
  func lookAgain(within patience: Duration) async {
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

  /// Why the service lets no app use the account, according to its latest response.
  var refusal: String? { get async { await sync.refusal } }

  /// Why the service lets this app not use the account, with the command that the operator needs; nil if it does.
  func refusal(of who: AppRequestor, at provider: String?) async -> String? {
    guard let refusal = await sync.appRefusals[who] else { return nil }
    guard case .singleSignOn = refusal, let provider else { return refusal.description }
    return "single sign-on is off for \(who.requestor) with \(provider), which the service's operator switches on: "
      + "regentctl integrate \(who.requestor) \(provider) --sso on"
  }

  /// Stops the background work of the box's shared account.
  func stop() async { await sync.stop() }

  private func tookOver(_ changed: [AppRequestor]) {
    for who in changed { book.decided(who) }
    wake()
  }

  private func signedOut() {
    book.signedOut()
    wake()
  }

  // MARK: Requests of apps

  func standing(of who: AppRequestor) async -> AppStanding {
    let account = await account()
    return AppStanding(
      who: who, permission: permissions.permission(of: who), signIn: account.signIn, failure: account.failure,
      refusal: await refusal(of: who, at: account.signIn?.provider))
  }

  /// Asks the viewer about an app if the viewer has not decided yet, and waits for the answer for `wait` at most.
  func ask(_ who: AppRequestor, wait: Duration) async -> Asked {
    await ask(who, .access, wait: wait)
  }

  /// Asks the viewer to sign the box out, for an app that uses its account.
  ///
  /// Waits for the answer for `wait` at most.
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

  /// Waits until a question has been answered, dismissed or has expired.
  private func answered(_ question: PromptBook.Question, _ wait: Duration) async {
    let end = clock() + UInt64(max(0, wait.components.seconds)) * 1_000_000_000
    while book.open?.id == question.id {
      let now = clock()
      guard now < end, await sleep(.nanoseconds(Int64(end - now)), for: question.who.app) else { break }
    }
  }

  /// Closes a question that the viewer dismissed without a decision.
  func dismiss(_ question: Int) {
    book.dismiss(question)
    wake()
  }

  /// Returns the box's signed answer to a profile request, for an app that has the permission.
  func assertion(
    to profileRequest: [UInt8], provider: String, for who: AppRequestor
  ) async throws(CommandError) -> (signIn: SignInFacts, assertion: String) {
    try require(who)
    let current = try await current()
    // The account may belong to another viewer by now, so the permission is checked again.
    try require(who)
    guard let signIn = current else {
      throw CommandError("this box is not signed in", hint: "sign in: regent sso sign-in", code: "not-signed-in")
    }
    guard signIn.provider.utf8.elementsEqual(provider.utf8) else {
      throw CommandError(
        "the box is signed in with provider \(signIn.provider), not with \(provider)",
        hint: "the app must ask the service for a profile request for \(signIn.provider)", code: "no-assertion")
    }
    let assertion = try await account.assertion(to: profileRequest, provider: provider, for: who)
    // The viewer may have revoked the permission meanwhile.
    try require(who)
    return (signIn, assertion)
  }

  /// Throws unless the viewer lets this app use the account.
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
      hint: "the viewer can allow it: regent sso grant \(who.app) --for \(shellQuoted(who.requestor))",
      code: permission.rawValue)
  }

  func picker() async throws(CommandError) -> [ProviderEntry] { try await account.picker() }

  // MARK: Actions of the viewer and the box's owner

  /// The current sign-in, or the reason why it is not known.
  func account() async -> (signIn: SignInFacts?, failure: String?) {
    do throws(CommandError) {
      return (try await current(), nil)
    } catch {
      return (nil, error.message)
    }
  }

  var decisions: [AppRequestor: PlatformPermission] { permissions.decisions }

  /// Stores a decision of the viewer about an app.
  ///
  /// It is durable and effective when this returns.
  func decide(_ permission: PlatformPermission, _ who: AppRequestor) async throws(CommandError) {
    // Reads the box's current account first: another viewer may have signed in meanwhile, and the decision is about the
    // account that is signed in now. If reading fails, the decision is stored nevertheless.
    _ = try? await current()
    let kept = Result { () throws(CommandError) in try permissions.decide(permission, who) }
    book.decided(who)
    wake()
    // A refusal that could not be stored on the box is sent too, because the service stores it.
    await sync.tell()
    _ = try kept.get()
  }

  /// Returns the open question to the viewer, unless its number is `last`.
  ///
  /// Waits for another one for `wait` at most.
  func prompt(after last: Int, wait: Duration) async -> PromptBook.Question? {
    let end = clock() + UInt64(max(0, wait.components.seconds)) * 1_000_000_000
    while true {
      let now = clock()
      book.forget(now: now)
      if let open = book.open, open.id != last { return open }
      guard now < end, await sleep(.nanoseconds(Int64(end - now))) else { return nil }
    }
  }

  /// Signs the box out.
  ///
  /// Every app that used its account is signed out at its next check.
  func signOut() async throws(CommandError) -> SignOutEnd {
    defer { signedOut() }
    return try await account.signOut()
  }

  // MARK: Refused programs

  func note(refused user: UInt32, _ requestor: String) { refusals.note(user, requestor) }
  var refused: [RefusalBook.Refusal] { refusals.latest }

  // MARK: Held requests (long polls)

  /// Waits for the next decision or question, for `longest` at most.
  ///
  /// - Returns: false if too many requests are held already.
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
    /// The app whose request is held (a long poll), or `nil` for a launcher's request.
    let app: String?
    let end: CheckedContinuation<Void, Never>
  }
}

/// The latest programs that wanted to use the box's shared account but are not apps, for `regent doctor`.
struct RefusalBook: Sendable {
  struct Refusal: Sendable, Equatable {
    let user: UInt32
    let requestor: String
    var count: Int
  }

  static let most = 16
  private(set) var latest: [Refusal] = []

  mutating func note(_ user: UInt32, _ requestor: String) {
    // 64 bytes, because one character may have any number of them.
    let requestor = CleanText.line(requestor, longest: 64) ?? ""
    var refusal = Refusal(user: user, requestor: requestor, count: 1)
    if let place = latest.firstIndex(where: { $0.user == user && $0.requestor.hasSameBytes(as: requestor) }) {
      refusal.count = latest.remove(at: place).count + 1
    }
    latest.append(refusal)
    if latest.count > Self.most { latest.removeFirst() }
  }
}
