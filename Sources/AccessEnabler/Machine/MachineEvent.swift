import RegentPairing

/// An event that the enabler's state machine handles.
enum MachineEvent: Hashable, Sendable {
  /// A call of `setRequestor`, with the stored tokens of the requestor.
  case setRequestor(RequestID, SetRequestor)
  case app(RequestID, AppCall)
  /// An `async` call of the app.
  ///
  /// If no requestor is set, the call fails at once; it does not wait for `setRequestor`.
  case asked(RequestID, AppCall)
  /// The app has cancelled a call.
  case cancel(RequestID)
  case setOptions(EnablerOptions)
  case answered(CallID, ServiceAnswer)
  case timer(TimerID)
  /// Another process changed the token store, or the store was found damaged.
  ///
  /// The event contains the current tokens.
  case tokens(RequestorTokens)
  /// Tells the state machine whether the socket of the box's daemon exists.
  case platform(isThere: Bool)
  /// A status about the store or the clock that the app should receive.
  case news(EntitlementStatus)
}

/// The arguments of `setRequestor`, with the stored tokens of the requestor.
struct SetRequestor: Hashable, Sendable {
  var requestor: String
  var services: [String]
  var tokens: RequestorTokens
}

enum AppCall: Hashable, Sendable {
  case checkAuthentication
  case getAuthentication(AuthenticationRequest)
  /// The app calls `setSelectedProvider`; nil means that the viewer left the picker.
  case setSelectedProvider(String?)
  /// The viewer will choose the provider on the phone.
  case selectOnSecondScreen
  case answerTvProviderDialog(TvProviderAnswer)
  /// The app's delegate does not implement the callback for this provider picker.
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

/// The options of a sign-in.
struct AuthenticationRequest: Hashable, Sendable {
  var isForced = false
  var data: [String: String] = [:]
  var filter: ProviderFilter?
  /// The provider to sign in with; if set, no picker is shown.
  var choice: ProviderChoice?
}

/// The provider to sign in with, or that the viewer chooses it on the phone.
@nonexhaustive
public enum ProviderChoice: Hashable, Sendable {
  /// The viewer chooses the provider on the phone.
  case onSecondScreen
  /// Signs in with the provider of this id.
  case provider(String)
}

/// An action that the caller of the machine must carry out.
enum MachineAction: Hashable, Sendable {
  /// Report an event for these calls of the app.
  case tell(EntitlementEvent, for: [RequestID])
  /// Finish a call of the app.
  ///
  /// No event for it follows.
  case finish(RequestID, RequestOutcome)
  case call(OutgoingCall)
  case cancelCall(CallID)
  /// Start a timer that may take somewhat longer, so that many boxes do not send their requests at the same moment.
  case startTimer(TimerID, Duration)
  /// Start a timer of exactly this length.
  case startDeadline(TimerID, Duration)
  case stopTimer(TimerID)
  case store(StoreChange, requestor: String)
  /// Open a page in the browser program that the configuration names.
  case openBrowser(String)
}

/// The result of a call of the app, such as a sign-in or an error.
enum RequestOutcome: Hashable, Sendable {
  case configured([MVPD])
  case signIn(SignIn)
  case signedOut
  case access(MediaAccess)
  case resources([String])
  case selected(MVPD?)
  case metadata(Metadata)
  /// The call has ended. It has no result of its own, because it only affected another call.
  case heard
  case failed(EntitlementError)
}
