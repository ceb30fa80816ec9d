extension StatusID {
  /// The text of a status for which the service sent none: one sentence that is safe to show to the viewer.
  ///
  /// It is empty for codes that always come with a text.
  var sentence: String {
    switch self {
    case .platformAccount: "the box's TV provider account cannot be used at the moment"
    case .signOutInSettings: "the box is still signed in: the next start signs this app in again"
    case .permissionDenied: "this app may not use the box's TV provider account"
    case .permissionUndetermined: "the viewer has not decided whether this app may use the box's TV provider account"
    case .platformRequestFailed: "the box's TV provider account could not be asked"
    case .notAuthenticated: "not signed in"
    case .passiveAuthentication: "a sign-in without asking the viewer was tried"
    case .otherProvider: "another provider was chosen"
    case .unsupportedProvider: "this app does not work with the provider that was chosen"
    case .pickerCancelled: "no provider was chosen"
    case .degradedAuthentication: "signed in without the provider, which is out of order"
    case .temporaryPass: "signed in with a temporary pass"
    case .temporaryPassExpired: "the temporary pass has ended"
    case .noSession: "the sign-in has ended: sign in again"
    case .authenticationFailed: "signing in failed: try again later"
    case .registrationFailed: "the service does not accept this app's software statement"
    case .accessTokenFailed: "the service gives this app no access token"
    case .notTrusted: "the service does not accept this app's credentials"
    case .unsafeConnection: "there is no safe connection to the service"
    case .clockWrong: "this device's clock is wrong"
    case .unknownRequestor: "the service does not know this app's requestor"
    case .unreachable: "the service cannot be reached"
    case .configurationThrottled: "the service is busy: try again in a minute"
    case .noRegistrationCode: "the service gave no registration code: try again later"
    case .phoneConnected: "a phone has opened the code"
    case .connectionLost: "the service does not answer at the moment; the code stays valid"
    case .serviceBusy: "the service is busy; the code stays valid"
    case .connectionBack: "the service answers again"
    case .degradedAuthorization: "allowed without the provider, which is out of order"
    case .temporaryAuthorization: "allowed by a temporary pass"
    case .denied: "this may not be watched"
    case .deniedRepeatedly: "denied repeatedly: the service is asked again in a minute"
    case .providerProblem: "the provider could not be asked: try again later"
    case .malformedResource: "the resource is not well formed"
    case .degradedDenial: "nothing can be watched at the moment"
    case .authorizationFailed: "the service could not decide whether this may be watched: try again later"
    case .preauthorizationFailed: "the service could not decide what may be watched: request fewer titles"
    default: ""
    }
  }
}
