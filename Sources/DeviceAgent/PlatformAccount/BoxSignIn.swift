import CommandKit
import RegentJSON
import RegentPlatform

/// The box's own sign-in, started by apps and shown on their screens.
///
/// All apps share one code.
///
/// The daemon runs this sign-in like one that a launcher starts (``PairHost``). An app that leaves withdraws the code
/// only if no other app waits for it.
actor BoxSignIn {
  /// A sign-in of the box that has started, and the code to show.
  struct Begun: Sendable {
    let id: String
    let after: Int
    let code: JSONValue?

    var document: JSONObject {
      guard let code else { return ["last": 0, "end": "authenticated"] }
      return ["version": 1, "signIn": .string(id), "after": .integer(Int64(after)), "code": code]
    }
  }

  /// What has changed in the box's sign-in since the last poll.
  struct SignInProgress: Sendable {
    var last: Int
    var isOpened = false
    var match: Int?
    var end: String?

    var document: JSONObject {
      var object: JSONObject = ["version": 1, "last": .integer(Int64(last)), "opened": .bool(isOpened)]
      if let match { object["match"] = .integer(Int64(match)) }
      if let end { object["end"] = .string(end) }
      return object
    }
  }

  private let pairing: PairHost
  /// The daemon's own user id, so that the apps do not join a sign-in that another user started.
  private let owner: UInt32
  private var id: String?
  private var waiting: Set<AppRequestor> = []

  /// How long to wait for the service to return a code.
  private static let patience = Duration.seconds(20)

  init(_ pairing: PairHost, owner: UInt32) {
    self.pairing = pairing
    self.owner = owner
  }

  func begin(_ provider: String, _ who: AppRequestor) async throws(CommandError) -> Begun {
    let begun = try await pairing.begin(PairOrder(), by: owner, for: who.app)
    id = begun.id
    waiting.insert(who)
    try await pairing.requestCode(begun.id, provider, isFirst: true, by: owner)
    let end = Clocks.bootNanoseconds() + UInt64(Self.patience.components.seconds) * 1_000_000_000
    var last = begun.after
    while Clocks.bootNanoseconds() < end {
      let news = try await pairing.news(of: begun.id, after: last, wait: .seconds(5), by: owner)
      last = news.last
      for event in news.events {
        switch event {
        case .code: return Begun(id: begun.id, after: last, code: event.document)
        case .alreadySignedIn, .authenticated:
          waiting.remove(who)
          return Begun(id: begun.id, after: last, code: nil)
        case .failed(let failure):
          await leave(begun.id, who)
          throw CommandError(failure.message, hint: failure.hint, code: "account")
        default: break
        }
      }
    }
    await leave(begun.id, who)
    throw CommandError(
      "the service did not give the box a code", hint: "find the reason: regent doctor", code: "account")
  }

  func news(
    of id: String, after last: Int, wait: Duration, _ who: AppRequestor
  ) async throws(CommandError) -> SignInProgress {
    let heard = try await pairing.news(of: id, after: last, wait: wait, by: owner)
    var news = SignInProgress(last: heard.last)
    for event in heard.events {
      switch event {
      case .opened: news.isOpened = true
      case .match(let number):
        news.isOpened = true
        news.match = number
      case .authenticated, .alreadySignedIn: news.end = "authenticated"
      case .denied: news.end = "denied"
      case .expired, .withdrawn: news.end = "expired"
      case .failed: news.end = "failed"
      default: break
      }
    }
    if news.end != nil { waiting.remove(who) }
    return news
  }

  /// Notes that an app no longer waits for the box's sign-in.
  ///
  /// When the last app leaves, the code is withdrawn.
  func leave(_ id: String, _ who: AppRequestor) async {
    waiting.remove(who)
    guard waiting.isEmpty, self.id == id else { return }
    self.id = nil
    try? await pairing.withdraw(id, by: owner, forApps: true)
  }
}
