import RegentPairing

/// The state of the machine.
///
/// Calls such as authorizations run in any phase, as `pendingCalls`.
enum Phase: Hashable, Sendable {
  /// `setRequestor` was not called yet; calls are queued.
  case unconfigured
  /// The services are being asked for their providers; calls are queued.
  case configuring(Configuring)
  /// The services are being asked whether this device is still signed in; calls are queued.
  case synchronizing(Synchronizing)
  /// The app may be signed in with the box's shared account, without a picker; calls are queued.
  case joining(Joining)
  /// No sign-in or configuration is running.
  case ready
  /// A sign-in has begun, and the box's daemon is being asked about the shared account.
  case attaching(Login, Attaching)
  /// The app shows the picker for the box's shared account.
  case presenting(Login, PresentedDialog)
  /// The app shows the registration code with which the box itself signs in.
  case sharing(Login, BoxCode)
  /// The app shows its own provider picker.
  case choosing(Login)
  /// The service is asked to sign in with a temporary pass.
  case entering(Login, Choice, CallID)
  /// A registration code is being requested, or an earlier one is being read.
  case registering(Login, Choice, Registering)
  /// The registration code is shown, and the enabler waits for the approval.
  case waiting(Login, Choice, CodeWatch)
  /// The viewer signs in on the provider's pages in a browser.
  case browsing(Login, Choice, RegistrationOffer)
  /// The viewer has approved, and the sign-in is being fetched from the service.
  case fetching(Login, Choice, Fetching)
  /// The services are being told that this device has signed out; calls are queued.
  case signingOut(SigningOut)
  /// A browser shows the logout page of the service.
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
  /// When the first service answered; the wait for slower services is counted from then.
  var start: Instant?
  /// How long earlier steps have already waited for slow services.
  ///
  /// All steps together have one time limit.
  var spent = Duration.zero
  var timer: TimerID?
}

struct SigningOut: Hashable, Sendable {
  var requests: [RequestID]
  var open: Set<CallID>
  /// The logout page to open after the services were told, if viewers sign in with a browser.
  var browser: LogoutPage?
  /// The timer after which the app is told that it is signed out, even if services have not answered.
  var deadline: TimerID?
}

/// The service's page that signs out the browser with which this device signed in.
struct LogoutPage: Hashable, Sendable {
  var service: String
  var redirectURL: String
  var provider: MVPD
  /// A ticket that proves to the logout page that this device asked for the sign-out, so that the viewer need not
  /// confirm; nil if the service gave none.
  var ticket: String?
}

/// A running sign-in, and the app's calls that wait for it.
struct Login: Hashable, Sendable {
  /// A call of the app that the end of the sign-in finishes.
  enum Waiter: Hashable, Sendable {
    case authentication(RequestID)
    /// A call that continues with an authorization after the sign-in.
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

/// A chosen provider and the service that lists it.
struct Choice: Hashable, Sendable {
  /// The chosen provider; nil if the viewer chooses on the phone.
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
  /// The provider choice of the running sign-in, once the app has made it.
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
  /// The code of an earlier run that is being read from the service; nil if a new code is requested.
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
  /// The failure to report to the app if the service has still not answered at the end of `EnablerTiming.silence`.
  var report: TroubleReport?
  var call: CallID?
  /// Whether the current request is for the sign-in and not for the code's record.
  var asksForSignIn = false
  /// Whether the service withdrew the code before its expiry.
  var isWithdrawn = false
  /// Whether no request for the code has been sent yet.
  var isNew = false
  /// When the current request was sent.
  ///
  /// If the service answers a long poll at once although the code has not changed, the next request must wait.
  var asked = Uptime(milliseconds: 0)
  /// Counts how often a change of the code was followed by the next request without a pause.
  var news = RateMeter()
  var timer: TimerID?
}

struct TroubleReport: Hashable, Sendable {
  var failure: ServiceFailure
  var timer: TimerID
}

struct Fetching: Hashable, Sendable {
  var call: CallID
  /// The state of the code that led to this sign-in; nil after a browser sign-in or a temporary pass.
  var watch: CodeWatch?
}

/// A call of the app that runs at the same time as a sign-in.
enum PendingCall: Hashable, Sendable {
  case authorizing(Authorizing)
  case preauthorizing(Preauthorizing)
  case metadata(MetadataRequest, arguments: [String: String])
  /// `checkAuthentication`, which waits for the box's daemon.
  case checking

  struct Authorizing: Hashable, Sendable {
    var resource: String
    var data: [String: String]
    /// Whether the call may start a sign-in if this device is not signed in.
    var mayLogIn: Bool
    /// Whether the permit came from the cache.
    ///
    /// If the service no longer has this permit, a new one is requested.
    var usesCachedPermit: Bool
    /// Whether the request only asks if the viewer may watch the resource now, after many denials.
    var isProbe = false
  }
}
