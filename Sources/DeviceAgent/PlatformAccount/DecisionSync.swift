import AccessEnabler
import CommandKit
import RegentJSON
import RegentPairingWire
import RegentPlatform

/// Synchronizes the viewer's decisions about apps between this box and the service's page "my screens".
///
/// Decisions made on the box are sent until the service has confirmed them, even after a restart. Decisions made at the
/// service arrive by one long poll, so that the box learns of them at once and does not wake up otherwise. The service
/// keeps the later of two decisions about an app; until it has confirmed a decision of the box, the box uses its own.
actor DecisionSync {
  private let permissions: PermissionStore
  private let account: any BoxAccount
  /// How long the service may hold a long poll.
  private let hold: Duration
  /// While the box is signed out, the shortest time between two requests that ask the service whether the box is signed
  /// in.
  private let askPause: Duration
  private var tag: String?
  private var following: Task<Void, Never>?
  /// The number of the current synchronization loop.
  ///
  /// A loop with another number has been replaced and ends.
  private var round = 0
  /// The box's sign-in at the latest check.
  private var known: SignInFacts?
  private var telling: Task<Void, Never>?
  /// The running request whether the box is signed in after all, and the earliest time of the next one.
  private var asking: Task<Void, Never>?
  private var nextAsk: UInt64 = 0
  /// Why the service lets no app use the account, according to its latest response.
  private(set) var refusal: String?
  private var takenOver: (@Sendable ([AppRequestor]) async -> Void)?
  private var ended: (@Sendable () async -> Void)?

  /// The pause after the service has refused a request.
  ///
  /// A new request of an app can end the pause.
  private static let refusedPause = Duration.seconds(600)
  /// The shortest time between two polls.
  ///
  /// It limits the requests if a viewer keeps changing decisions.
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

  /// Sets the work to do when the service's decisions changed the permission of apps, and when the box is signed out.
  func onNews(
    _ work: @escaping @Sendable ([AppRequestor]) async -> Void, end: (@Sendable () async -> Void)? = nil
  ) {
    takenOver = work
    ended = end
  }

  /// The box's current sign-in.
  ///
  /// If it belongs to another viewer than before, first revokes the permissions of the earlier viewer.
  ///
  /// A new sign-in starts the synchronization at once, even if an earlier one led to a pause.
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

  /// Asks the service in the background whether the box is signed in after all, as when an account was enabled again.
  ///
  /// The caller does not wait for the answer, because apps must not wait for the network.
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

  /// Asks the service whether the box is signed in after all, and waits for the answer.
  func lookAgain() async {
    _ = try? await current()
    await asking?.value
  }

  /// Starts the synchronization of decisions unless it is running.
  ///
  /// It ends when the box is signed out.
  func begin() {
    if following == nil { beginAnew() }
  }

  /// Restarts the synchronization of decisions, and so ends a pause after an error.
  func beginAnew() {
    following?.cancel()
    round += 1
    following = Task { [round] in await follow(round) }
  }

  /// Sends the service the decisions that it has not confirmed.
  func tell() {
    guard telling == nil else { return }
    telling = Task { await tellAll() }
  }

  /// Reports to the service that an app waits for a decision.
  ///
  /// If this fails, only the box shows the question, not the page "my screens".
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
        // The box is signed out, or the service refuses the decision. The next start tries again.
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
          // An immediate response without changes means that the service is stopping, or that a proxy does not hold
          // requests.
          let wasHeld = Clocks.bootNanoseconds(since: began) > 1_000_000_000
          if wasHeld { backoff.reset() } else { try? await Task.sleep(for: backoff.next()) }
          continue
        }
        refusal = nil
        let changed = try permissions.takeOver(news.decisions, asOf: asOf)
        // The tag is stored only now. If decisions could not be written, the next request gets them again.
        tag = news.tag
        backoff.reset()
        if !changed.isEmpty { await takenOver?(changed) }
        tell()
        try? await Task.sleep(for: Self.shortestPause)
      } catch {
        var isPassing = error.exit == .unreachable || error.code == "storage"
        if error.exit == .notSignedIn {
          // The sign-in has ended at the service, and so has the poll. The local sign-in is removed, unless the service
          // says that it is valid.
          let before = known
          let isAnswered = await account.lookAgain()
          if isAnswered, await !isSignedIn() { break }
          // The box was signed in again meanwhile, so the response was about the earlier sign-in.
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

/// A viewer's decision about an app, as the box reports it to the service.
struct BoxDecision: Sendable, Equatable {
  enum Word: Sendable, Equatable {
    case permission(PlatformPermission)
    /// The viewer has not decided, and an app waits for a decision.
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
  /// How long ago the viewer made the decision.
  var age = Duration.zero
}

/// The viewers' decisions about the box's apps that the service has stored.
struct ServiceDecisions: Sendable, Equatable {
  let decisions: [AppRequestor: PlatformPermission]
  let tag: String
}

extension ServiceDecisions {
  private static let limits = JSONLimits(depth: 4, bytes: 1_048_576)

  /// Returns `nil` if one entry cannot be parsed, because a partial list could lack a refusal.
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
