import RegentPairing

/// The state of the machine.
///
/// Calls such as authorizations run beside it as `pendingCalls`.
enum Phase: Hashable, Sendable {
  /// `setRequestor` was not called yet; calls are queued.
  case unconfigured
  /// The services are being asked for their providers; calls are queued.
  case configuring(Configuring)
  /// The services are being asked whether this device is still signed in; calls are queued.
  case synchronizing(Synchronizing)
  /// The box's platform account signs this app in if it may; calls are queued.
  case joining(Joining)
  /// No sign-in or configuration is running.
  case ready
  /// The box's daemon is being asked.
  case attaching(Login, Attaching)
  /// The platform's dialog is shown.
  case presenting(Login, PresentedDialog)
  /// The code of the box's own sign-in is shown.
  case sharing(Login, BoxCode)
  /// The app's provider picker is shown.
  case choosing(Login)
  /// A temporary pass is being requested.
  case entering(Login, Choice, CallID)
  /// A code is being requested, or an earlier one is being read.
  case registering(Login, Choice, Registering)
  /// The code is shown.
  case waiting(Login, Choice, CodeWatch)
  /// A browser shows the provider's pages.
  case browsing(Login, Choice, RegistrationOffer)
  /// The sign-in is being fetched.
  case fetching(Login, Choice, Fetching)
  /// The services are being told that this device has signed out; calls are queued.
  case signingOut(SigningOut)
  /// A browser shows the logout page.
  case leaving([RequestID])

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

/// How long the enabler waits for slow services after another service has answered.
struct Patience: Hashable, Sendable {
  /// When the first service had answered, so that only slower ones are waited for.
  var start: Instant?
  /// The time that earlier steps have waited for slow services.
  var spent = Duration.zero
  var timer: TimerID?
}

struct SigningOut: Hashable, Sendable {
  var requests: [RequestID]
  var open: Set<CallID>
  /// The logout page to open afterwards, if viewers sign in with a browser.
  var browser: LogoutPage?
  /// The timer after which the app is told even if services have not answered.
  var deadline: TimerID?
}

/// The service's page that signs out the browser with which this device signed in.
struct LogoutPage: Hashable, Sendable {
  var service: String
  var redirectURL: String
  var provider: MVPD
  /// A ticket that proves to the page that this device asked, so that the viewer need not confirm; nil if the service
  /// gave none.
  var ticket: String?
}

/// A running sign-in, and the app's calls that wait for it.
struct Login: Hashable, Sendable {
  /// A call of the app that the end of the sign-in finishes.
  enum Waiter: Hashable, Sendable {
    case authentication(RequestID)
    /// Continues with an authorization after the sign-in.
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
  /// Whether a call asked for a new sign-in although there is one.
  var isForced = false
}

/// A provider and the service that serves it.
struct Choice: Hashable, Sendable {
  /// nil if the viewer chooses on the phone.
  var provider: MVPD?
  var service: String
  var domain: String?

  /// Whether both choices lead to the same sign-in.
  func isSame(as other: Choice) -> Bool {
    let (id, otherID) = (provider?.id ?? "", other.provider?.id ?? "")
    return service.isSameText(as: other.service) && id.isSameText(as: otherID)
  }
}

extension Phase {
  /// The choice of the running sign-in, once it is made.
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
  /// The earlier code that is being read; nil if a new one is requested.
  var earlier: RegistrationOffer?
}

/// The state of waiting for a shown code.
struct CodeWatch: Hashable, Sendable {
  var offer: RegistrationOffer
  var sequence: Int
  var status = PairingStatus.offered
  var match: Int?
  var failures = 0
  /// When the service stopped answering; nil while it answers.
  var awaySince: Uptime?
  /// The last status that was reported to the app about failures.
  var trouble: StatusID?
  /// The failure to report if the service still does not answer when `silence` has passed.
  var report: TroubleReport?
  var call: CallID?
  /// Whether the current request is for the sign-in and not for the code.
  var asksForSignIn = false
  /// Whether the service withdrew the code before its expiry.
  var isWithdrawn = false
  /// Whether no request for the code has been sent yet.
  var isNew = false
  /// When the request was sent.
  ///
  /// If the service answers a long poll at once and without a change, the next request must wait.
  var asked = Uptime(milliseconds: 0)
  /// Counts how often a change was followed by the next request without a pause.
  var news = RateMeter()
  var timer: TimerID?
}

struct TroubleReport: Hashable, Sendable {
  var failure: ServiceFailure
  var timer: TimerID
}

struct Fetching: Hashable, Sendable {
  var call: CallID
  /// The wait for a code that led here; nil after a browser sign-in or a temporary pass.
  var watch: CodeWatch?
}

/// A call of the app that runs beside the sign-in.
enum PendingCall: Hashable, Sendable {
  case authorizing(Authorizing)
  case preauthorizing(Preauthorizing)
  case metadata(MetadataRequest, arguments: [String: String])
  /// `checkAuthentication`, which waits for the box's daemon.
  case checking

  struct Authorizing: Hashable, Sendable {
    var resource: String
    var data: [String: String]
    /// Whether it may start a sign-in.
    var mayLogIn: Bool
    /// Whether the permit came from the cache.
    ///
    /// If the service no longer has it, a new one is requested.
    var usesCachedPermit: Bool
    /// Whether this request only asks if the resource may be watched now, after many denials.
    var isProbe = false
  }
}
