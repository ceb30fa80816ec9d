import RegentPairing

/// What can happen to the machine.
enum MachineEvent: Hashable, Sendable {
  /// A new identity, with the tokens that are kept for it.
  case setRequestor(RequestID, SetRequestor)
  /// A call of the app.
  case app(RequestID, AppCall)
  /// The same from somebody who waits for the end: without a requestor it ends at once instead of waiting for one.
  case asked(RequestID, AppCall)
  /// The app does not wait any more.
  case cancel(RequestID)
  case setOptions(EnablerOptions)
  case answered(CallID, ServiceAnswer)
  case timer(TimerID)
  /// Another process changed the store, or it was found damaged: what is kept now.
  case tokens(RequestorTokens)
  /// Whether a daemon's socket is there.
  case platform(isThere: Bool)
  /// Something about the store or the clock that the app should know.
  case news(EntitlementStatus)
}

/// A requestor, its services and what is kept for it.
struct SetRequestor: Hashable, Sendable {
  var requestor: String
  var services: [String]
  var tokens: RequestorTokens
}

/// The calls of the app.
enum AppCall: Hashable, Sendable {
  case checkAuthentication
  case getAuthentication(AuthenticationRequest)
  /// Nothing: the viewer went back.
  case setSelectedProvider(String?)
  /// The viewer chooses on the phone.
  case selectOnSecondScreen
  case answerTvProviderDialog(TvProviderAnswer)
  /// The app's delegate has no method for this dialog.
  case dialogUnhandled(ProviderDialog)
  case renewCode
  case handleExternalURL(String)
  case preauthorize([String], usesCache: Bool)
  case checkAuthorization(String, data: [String: String])
  case getAuthorization(String, data: [String: String])
  case getSelectedProvider
  case getMetadata(MetadataRequest?, arguments: [String: String])
  case logout
}

/// How an app wants to be signed in.
struct AuthenticationRequest: Hashable, Sendable {
  var isForced = false
  var data: [String: String] = [:]
  var filter: ProviderFilter?
  /// Known beforehand: no picker is shown.
  var choice: ProviderChoice?
}

/// Whom the viewer signs in with.
@nonexhaustive
public enum ProviderChoice: Hashable, Sendable {
  /// The viewer chooses on the phone.
  case onSecondScreen
  /// The provider of this id.
  case provider(String)
}

/// What the machine wants done.
enum MachineAction: Hashable, Sendable {
  /// Tell the app, for these of its calls.
  case tell(EntitlementEvent, for: [RequestID])
  /// A call of the app is over; nothing comes after it for that call.
  case finish(RequestID, RequestOutcome)
  case call(OutgoingCall)
  case cancelCall(CallID)
  /// A pause that may be somewhat longer: many boxes begin theirs at the same moment.
  case startTimer(TimerID, Duration)
  /// Exactly so long.
  case startDeadline(TimerID, Duration)
  case stopTimer(TimerID)
  case store(StoreChange, requestor: String)
  /// Show a page in the browser that the configuration names.
  case openBrowser(String)
}

/// How a call of the app ended.
enum RequestOutcome: Hashable, Sendable {
  case configured([MVPD])
  case signIn(SignIn)
  case signedOut
  case access(MediaAccess)
  case resources([String])
  case selected(MVPD?)
  case metadata(Metadata)
  /// It only changed the course of another call.
  case heard
  case failed(EntitlementError)
}
