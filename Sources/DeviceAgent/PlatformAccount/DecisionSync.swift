import AccessEnabler
import CommandKit
import RegentJSON
import RegentPairingWire
import RegentPlatform

/// Keeps the decisions of this box and those of "my screens" the same.
///
/// What was decided here is told until the service has heard it, over restarts. What is decided there comes by one held
/// call, so that the box hears of it at once and has no other wake-up. Of two decisions about an app the later one
/// holds, which the service says; while it has not heard of one that was made here, that one holds here.
actor DecisionSync {
  private let permissions: PermissionStore
  private let account: any BoxAccount
  /// How long the service holds a call.
  private let hold: Duration
  /// With nobody signed in the service is asked that often at most, while apps or people ask.
  private let askPause: Duration
  private var tag: String?
  private var following: Task<Void, Never>?
  /// Which of the loops is the one that goes on.
  private var round = 0
  /// The sign-in that was there when last looked.
  private var known: SignInFacts?
  private var telling: Task<Void, Never>?
  /// The question whether somebody is signed in after all, and when the next one may be.
  private var asking: Task<Void, Never>?
  private var nextAsk: UInt64 = 0
  /// Why the service lets no app use the account, as it last said.
  private(set) var refusal: String?
  private var takenOver: (@Sendable ([AppRequestor]) async -> Void)?
  private var ended: (@Sendable () async -> Void)?

  /// A service that refuses is asked again after that, when an app asks again.
  private static let refusedPause = Duration.seconds(600)
  /// Two decisions come at least so far apart: who changes them without end makes no storm of calls.
  private static let shortestPause = Duration.milliseconds(250)

  init(
    _ permissions: PermissionStore, _ account: any BoxAccount, hold: Duration = .seconds(50),
    askPause: Duration = .seconds(10)
  ) {
    self.permissions = permissions
    self.account = account
    self.hold = hold
    self.askPause = askPause
  }

  /// What is to be done when apps stand otherwise without a decision here, and when nobody is signed in any more.
  func onNews(
    _ work: @escaping @Sendable ([AppRequestor]) async -> Void, end: (@Sendable () async -> Void)? = nil
  ) {
    takenOver = work
    ended = end
  }

  /// Who is signed in; what another viewer allowed before is taken back first.
  ///
  /// Who signed in since, here or in another process, is listened for without a pause that an earlier sign-in led to.
  func current() async throws(CommandError) -> SignInFacts? {
    let before = known
    guard let signIn = try await look() else {
      askService()
      return nil
    }
    if signIn != before { beginAnew() } else { begin() }
    return signIn
  }

  private func look() async throws(CommandError) -> SignInFacts? {
    known = try await account.kept()
    guard let signIn = known else { return nil }
    let takenBack = permissions.belong(to: signIn.viewerMark)
    if !takenBack.isEmpty {
      tell()
      await takenOver?(takenBack)
    }
    return signIn
  }

  /// Nobody is signed in here: the service may say otherwise, as when an account was switched off for a while. Whoever
  /// asks now is answered without it, as apps wait for no network.
  private func askService() {
    let now = Clocks.bootNanoseconds()
    guard asking == nil, now >= nextAsk else { return }
    nextAsk = now + askPause.wholeNanoseconds
    asking = Task {
      let isAnswered = await account.lookAgain()
      asking = nil
      if isAnswered, await isSignedIn() { beginAnew() }
    }
  }

  /// Waits until the service has said whether somebody is signed in after all, if nobody is here.
  func lookAgain() async {
    _ = try? await current()
    await asking?.value
  }

  /// Begins to tell and to listen, unless that is under way; it ends when nobody is signed in on the box.
  func begin() {
    if following == nil { beginAnew() }
  }

  /// The same without the pause that an earlier sign-in, or a service that was away, may have led to.
  func beginAnew() {
    following?.cancel()
    round += 1
    following = Task { [round] in await follow(round) }
  }

  /// Tells what the service has not heard of.
  func tell() {
    guard telling == nil else { return }
    telling = Task { await tellAll() }
  }

  /// Lets "my screens" show that an app asks; when that is not heard, the question is on the box alone.
  func tell(question who: AppRequestor) {
    Task { try? await account.tell(BoxDecision(who: who, word: .asked)) }
  }

  func stop() {
    following?.cancel()
    telling?.cancel()
    asking?.cancel()
  }

  private func tellAll() async {
    var backoff = Backoff()
    var refused: Set<AppRequestor> = []
    while !Task.isCancelled, let next = permissions.untold.first(where: { !refused.contains($0.who) }) {
      do throws(CommandError) {
        try await account.tell(
          BoxDecision(who: next.who, word: .permission(next.permission), age: next.age(at: Clocks.wallMilliseconds())))
        permissions.told(next)
      } catch {
        // Nobody is signed in, or the service wants none of it: the next beginning tries again.
        guard error.exit == .unreachable else {
          refused.insert(next.who)
          continue
        }
        try? await Task.sleep(for: backoff.next())
      }
    }
    telling = nil
  }

  private func follow(_ round: Int) async {
    tell()
    var backoff = Backoff()
    var wasSignedIn = false
    while !Task.isCancelled, await isSignedIn() {
      wasSignedIn = true
      let began = Clocks.bootNanoseconds()
      let asOf = permissions.revision
      do throws(CommandError) {
        guard let news = try await account.decisions(unless: tag, wait: hold) else {
          // Answered at once although nothing is new: a service that stops, or something between that holds no call.
          let wasHeld = Clocks.bootNanoseconds(since: began) > 1_000_000_000
          if wasHeld { backoff.reset() } else { try? await Task.sleep(for: backoff.next()) }
          continue
        }
        refusal = nil
        let changed = try permissions.takeOver(news.decisions, asOf: asOf)
        // Only now: what could not be written is asked for again.
        tag = news.tag
        backoff.reset()
        if !changed.isEmpty { await takenOver?(changed) }
        tell()
        try? await Task.sleep(for: Self.shortestPause)
      } catch {
        var isPassing = error.exit == .unreachable || error.code == "storage"
        if error.exit == .notSignedIn {
          // Ended at the service, which ended the call with it: what is kept here ends, unless it says otherwise.
          let before = known
          let isAnswered = await account.lookAgain()
          if isAnswered, await !isSignedIn() { break }
          // Somebody signed in meanwhile: it was not about that one.
          if known != before { continue }
          isPassing = !isAnswered
        }
        if !isPassing { refusal = error.message }
        try? await Task.sleep(for: isPassing ? backoff.next() : Self.refusedPause)
      }
    }
    guard round == self.round else { return }
    following = nil
    if wasSignedIn, !Task.isCancelled { await ended?() }
  }
}

extension DecisionSync {
  private func isSignedIn() async -> Bool {
    do throws(CommandError) {
      return try await look() != nil
    } catch {
      return false
    }
  }
}

/// A decision as the box tells it.
struct BoxDecision: Sendable, Equatable {
  enum Word: Sendable, Equatable {
    case permission(PlatformPermission)
    /// Nobody decided: an app wants the viewer to be asked.
    case asked

    var text: String {
      switch self {
      case .permission(let permission): permission.rawValue
      case .asked: "asked"
      }
    }
  }

  let who: AppRequestor
  let word: Word
  /// How long ago it was made.
  var age = Duration.zero
}

/// What the service says was decided.
struct ServiceDecisions: Sendable, Equatable {
  let decisions: [AppRequestor: PlatformPermission]
  let tag: String
}

extension ServiceDecisions {
  private static let limits = JSONLimits(depth: 4, bytes: 1_048_576)

  /// Nothing when any of it is not understood: half a list could leave out a no.
  init?(reading body: [UInt8], tag: String?) {
    guard let tag, let entries = (try? JSONValue(reading: body, limits: Self.limits))?["permissions"]?.array
    else { return nil }
    var decisions: [AppRequestor: PlatformPermission] = [:]
    for entry in entries {
      guard let app = entry["app"]?.string, PlatformApp.isName(app), let requestor = entry["requestor"]?.string,
        let permission = entry["permission"]?.string.flatMap(PlatformPermission.init)
      else { return nil }
      decisions[AppRequestor(app: app, requestor: requestor)] = permission
    }
    self.init(decisions: decisions, tag: tag)
  }
}
