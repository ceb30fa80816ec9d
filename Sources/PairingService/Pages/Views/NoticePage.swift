/// One thing to say and one way on: the ends of the flow, and what went wrong.
package struct NoticePage: PhonePage {
  /// What there is to say.
  package enum Kind: String, CaseIterable, Sendable {
    /// The code's time is over.
    case expired
    /// A link with a code that no screen is waiting with.
    case unknownCode = "unknown-code"
    /// Somebody approved this code already.
    case used
    /// The screen asked for a new code, or somebody withdrew this one.
    case withdrawn
    /// The viewer said no.
    case denied
    /// The viewer said: I did not start this.
    case reported
    /// The viewer typed a number that the screen does not show.
    case wrongNumber = "wrong-number"
    /// Another session holds the code at the moment.
    case held
    /// Too many wrong codes or passwords; `wait` says for how long.
    case tooManyTries = "too-many-tries"
    /// The service cannot take more at the moment.
    case busy
    /// The provider cannot be used with this app.
    case providerUnavailable = "provider-unavailable"
    /// The form's token is not valid any more.
    case formExpired = "form-expired"
    /// The form's page was shown before the browser signed in, out, or in as another viewer.
    case viewerChanged = "viewer-changed"
    /// The browser does not send our cookie back.
    case cookiesNeeded = "cookies-needed"
    /// This phone was signed out.
    case signedOut = "signed-out"
    /// A page elsewhere sent the browser here with something that is not right.
    case badLink = "bad-link"
    /// The viewer has no such screen: it was signed out, perhaps by the same form a moment ago.
    case noSuchScreen = "no-such-screen"
    /// There is no such page.
    case notFound = "not-found"
    /// Something failed on our side; `reference` finds it in the log.
    case failed
  }

  /// What there is to say.
  package var kind: Kind
  /// Seconds until it makes sense to try again, where that is known.
  package var wait: Int?
  /// Finds the event in the log; shown with `failed`.
  package var reference: String?
  /// Where “try again” leads, nil for the front page.
  package var retry: SafePath?

  /// A notice from its parts.
  package init(
    _ kind: Kind, wait: Int? = nil, reference: String? = nil, retry: SafePath? = nil
  ) {
    self.kind = kind
    self.wait = wait
    self.reference = reference
    self.retry = retry
  }

  package static let template = "notice.html"

  package var status: Int {
    switch kind {
    case .denied, .reported, .signedOut, .wrongNumber: 200
    case .badLink: 400
    case .formExpired, .viewerChanged, .cookiesNeeded, .providerUnavailable: 403
    case .notFound, .unknownCode, .noSuchScreen: 404
    case .held: 409
    case .expired, .used, .withdrawn: 410
    case .tooManyTries: 429
    case .failed: 500
    case .busy: 503
    }
  }

  /// What picture stands above the words.
  private enum Picture { case done, no, stop, time }

  private var picture: Picture {
    switch kind {
    case .signedOut: .done
    // Done as it was wanted, but nothing was let in: a green tick says the opposite at a glance.
    case .denied, .reported: .no
    case .expired, .withdrawn, .used, .held, .tooManyTries, .busy, .formExpired, .viewerChanged: .time
    default: .stop
    }
  }

  /// Whether the picture says that something was let in or done.
  var saysDone: Bool { picture == .done }
  /// Whether the picture says that nothing was let in, as was wanted.
  var saysNo: Bool { picture == .no }

  package static let fields: [TemplateField<NoticePage>] = [
    .choice("kind") { $0.kind },
    .flag("isDone") { $0.saysDone },
    .flag("isNo") { $0.saysNo },
    .flag("isTime") { $0.picture == .time },
    .duration("wait") { $0.wait },
    .text("reference") { $0.reference },
    .path("retry") { $0.retry },
    .flag("offersScreens") { $0.kind == .used },
    // Not another code: the viewer has just been sent one by an attacker.
    .flag("leadsToScreens") { $0.kind == .reported },
  ]
}
