import RegentPairing

/// Where the machine is; authorizations and the like run beside it as pendingCalls.
enum Phase: Hashable, Sendable {
  /// No requestor yet: calls are queued.
  case unconfigured
  /// Services are being asked for their provider lists: calls are queued.
  case configuring(Configuring)
  /// The services are being asked whether this device is (still) signed in: calls are queued.
  case synchronizing(Synchronizing)
  /// The box's platform account signs this app in, if it may: calls are queued.
  case joining(Joining)
  /// Nothing goes on.
  case ready
  /// The box's platform account is being asked.
  case attaching(Login, Attaching)
  /// The platform's dialog is shown.
  case presenting(Login, PresentedDialog)
  /// The code of the box's own sign-in is shown.
  case sharing(Login, BoxCode)
  /// A provider picker is shown.
  case choosing(Login)
  /// A temporary pass is being asked for.
  case entering(Login, Choice, CallID)
  /// A code is being asked for, or an earlier one looked up.
  case registering(Login, Choice, Registering)
  /// A code is shown.
  case waiting(Login, Choice, CodeWatch)
  /// A browser is at the provider's pages.
  case browsing(Login, Choice, RegistrationOffer)
  /// The sign-in is being fetched.
  case fetching(Login, Choice, Fetching)
  /// The services are being told that this device has signed out: calls are queued.
  case signingOut(SigningOut)
  /// A browser is at the logout pages.
  case leaving([RequestID])

  /// Whether calls of the app have to wait.
  var queuesCalls: Bool {
    switch self {
    case .unconfigured, .configuring, .synchronizing, .joining, .signingOut: true
    case .ready, .attaching, .presenting, .sharing, .choosing, .entering, .registering, .waiting, .browsing, .fetching,
      .leaving:
      false
    }
  }

  var login: Login? {
    switch self {
    case .choosing(let login), .entering(let login, _, _), .registering(let login, _, _),
      .waiting(let login, _, _), .browsing(let login, _, _), .fetching(let login, _, _), .attaching(let login, _),
      .presenting(let login, _), .sharing(let login, _):
      login
    case .unconfigured, .configuring, .synchronizing, .joining, .ready, .signingOut, .leaving: nil
    }
  }
}

struct Configuring: Hashable, Sendable {
  var requests: [RequestID]
  var open: Set<CallID>
  var failures: [ServiceFailure] = []
  var patience = Patience()
}

struct Synchronizing: Hashable, Sendable {
  var requests: [RequestID]
  var open: Set<CallID>
  var patience = Patience()
}

/// How long the slow among several services are waited for.
struct Patience: Hashable, Sendable {
  /// Since when only the others are waited for.
  var start: Instant?
  /// What was waited for them before.
  var spent = Duration.zero
  var timer: TimerID?
}

struct SigningOut: Hashable, Sendable {
  var requests: [RequestID]
  var open: Set<CallID>
  /// The browser that is signed out afterwards, if there is one.
  var browser: LogoutPage?
  /// When the app is told, whether the services know or not.
  var deadline: TimerID?
}

/// The page that signs the browser out which this device signed in with.
struct LogoutPage: Hashable, Sendable {
  var service: String
  var redirectURL: String
  var provider: MVPD
  /// What shows there that this device asks, so that nobody has to tap; none when the service gave none.
  var ticket: String?
}

/// A sign-in under way and who waits for it.
struct Login: Hashable, Sendable {
  /// One call of the app that the end of the sign-in answers.
  enum Waiter: Hashable, Sendable {
    case authentication(RequestID)
    /// Goes on to authorize when the sign-in is done.
    case authorization(RequestID, resource: String, data: [String: String])

    var request: RequestID {
      switch self {
      case .authentication(let request), .authorization(let request, _, _): request
      }
    }
  }

  var waiters: [Waiter]
  var data: [String: String] = [:]
  var filter: ProviderFilter?
  /// Whether somebody wants it anew although there is a sign-in.
  var isForced = false
}

/// A provider and the service that its calls go to.
struct Choice: Hashable, Sendable {
  /// None when the viewer chooses on the phone.
  var provider: MVPD?
  var service: String
  var domain: String?

  /// Whether both lead to the same sign-in.
  func isSame(as other: Choice) -> Bool {
    let (id, otherID) = (provider?.id ?? "", other.provider?.id ?? "")
    return service.isSameText(as: other.service) && id.isSameText(as: otherID)
  }
}

extension Phase {
  /// Whom the sign-in under way goes to, once that is known.
  var choice: Choice? {
    switch self {
    case .entering(_, let choice, _), .registering(_, let choice, _), .waiting(_, let choice, _),
      .browsing(_, let choice, _), .fetching(_, let choice, _):
      choice
    case .unconfigured, .configuring, .synchronizing, .joining, .ready, .attaching, .presenting, .sharing, .choosing,
      .signingOut, .leaving:
      nil
    }
  }
}

struct Registering: Hashable, Sendable {
  var call: CallID
  /// An earlier code that is being looked up; none when a new one is made.
  var earlier: RegistrationOffer?
}

/// What is known of a code that is shown.
struct CodeWatch: Hashable, Sendable {
  var offer: RegistrationOffer
  var sequence: Int
  var status = PairingStatus.offered
  var match: Int?
  var failures = 0
  /// Since when the service has been away; none while it answers.
  var awaySince: Uptime?
  /// What the app was told about these failures last.
  var trouble: StatusID?
  /// The failure that the app is told when the service is still away at the end of `silence`.
  var report: TroubleReport?
  var call: CallID?
  /// Whether that call asks for the sign-in instead of the code.
  var asksForSignIn = false
  /// Whether the service gave the code up before its time.
  var isWithdrawn = false
  /// Whether nobody has been asked about the code itself yet.
  var isNew = false
  /// When the call was sent: an answer without news that was not held must not be asked for again at once.
  var asked = Uptime(milliseconds: 0)
  /// How often news was followed by the next question at once.
  var news = RateMeter()
  var timer: TimerID?
}

struct TroubleReport: Hashable, Sendable {
  var failure: ServiceFailure
  var timer: TimerID
}

struct Fetching: Hashable, Sendable {
  var call: CallID
  /// The code that was waited for; none after a browser or a temporary pass.
  var watch: CodeWatch?
}

/// Work for one call of the app beside the sign-in.
enum PendingCall: Hashable, Sendable {
  case authorizing(Authorizing)
  case preauthorizing(Preauthorizing)
  case metadata(MetadataRequest, arguments: [String: String])
  /// checkAuthentication asks the box's daemon.
  case checking

  struct Authorizing: Hashable, Sendable {
    var resource: String
    var data: [String: String]
    /// Whether a sign-in may be started for it.
    var mayLogIn: Bool
    /// Whether the permit came from the cache; a service that does not know it any more is asked anew.
    var usesCachedPermit: Bool
    /// Whether the service is only asked if the resource may be watched, after many denials.
    var isProbe = false
  }
}
