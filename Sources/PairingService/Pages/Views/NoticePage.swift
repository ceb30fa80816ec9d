/// A page with one message and one link or button: the end of a sign-in, or an error.
package struct NoticePage: PhonePage {
  package enum Kind: String, CaseIterable, Sendable {
    /// The page says that the code has expired.
    case expired
    /// The page says that no screen is waiting with the code of the link.
    case unknownCode = "unknown-code"
    /// The page says that the code was already approved in another browser or by another viewer.
    case used
    /// The page says that the screen asked for a new code, or that the code was withdrawn.
    case withdrawn
    /// The page says that the viewer denied the code.
    case denied
    /// The page says that the viewer reported an attack: the viewer did not start this sign-in.
    case reported
    /// The page says that the viewer typed a number that the screen does not show.
    case wrongNumber = "wrong-number"
    /// The page says that another browser has claimed the code at the moment.
    case held
    /// The page says that there were too many wrong passwords or requests; `wait` is the time until the next try is
    /// allowed.
    case tooManyTries = "too-many-tries"
    /// The page says that too many wrong codes were typed, and that a scanned link still works.
    case tooManyCodes = "too-many-codes"
    /// The page says that the service is overloaded, stopping, or unable to decide.
    ///
    /// A retry may succeed.
    case busy
    /// The page says that the provider cannot be used with this requestor.
    case providerUnavailable = "provider-unavailable"
    /// The page says that the form's token is invalid or too old.
    case formExpired = "form-expired"
    /// The page says that another viewer, or none, was signed in when the page with the form was shown.
    case viewerChanged = "viewer-changed"
    /// The page says that the browser does not send this service's cookie back.
    case cookiesNeeded = "cookies-needed"
    case signedOut = "signed-out"
    /// The page says that an application's page sent the browser here with a parameter that is wrong or not registered.
    case badLink = "bad-link"
    /// The page says that the viewer has no screen with this id.
    ///
    /// The screen may have been signed out before, for example when the same form was sent twice.
    case noSuchScreen = "no-such-screen"
    case notFound = "not-found"
    /// The page reports an internal error; `reference` finds it in the log.
    case failed
  }

  package var kind: Kind
  /// The seconds after which a retry makes sense; nil when unknown.
  package var wait: Int?
  /// The random id of the error in the log; shown with `failed`.
  package var reference: String?
  /// The target of the page's “try again” link; nil for the start page.
  package var retry: SafePath?

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
    case .tooManyTries, .tooManyCodes: 429
    case .failed: 500
    case .busy: 503
    }
  }

  /// The kind of picture above the page's text.
  private enum Picture { case done, no, stop, time }

  private var picture: Picture {
    switch kind {
    case .signedOut: .done
    // A page that confirms a denial or a report gets no green tick, because the tick would suggest that the screen was
    // signed in.
    case .denied, .reported: .no
    case .expired, .withdrawn, .used, .held, .tooManyTries, .tooManyCodes, .busy, .formExpired, .viewerChanged: .time
    default: .stop
    }
  }

  var saysDone: Bool { picture == .done }
  /// Whether the picture shows that the viewer denied the request.
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
    // The button leads to the viewer's screens, not to the start page. An attacker has just sent this viewer a code, so
    // the page must not invite the viewer to enter another.
    .flag("leadsToScreens") { $0.kind == .reported },
  ]
}
