/// The names of the protocol's parameters, in a query or a form.
public enum Field {
  /// The requestor's id.
  ///
  /// Browser requests call it `requestor_id`.
  public static let requestor = "requestor"
  /// The requestor's id, signed with the app publisher's private key, which older apps send to `config`.
  public static let signedRequestorID = "signedRequestorID"
  /// The requestor's id in browser requests and `freepreview`.
  public static let requestorID = "requestor_id"
  public static let deviceID = "deviceId"
  /// Device information, if it is not in the header ``PairingHeader/deviceInfo``.
  public static let deviceInfo = "device_info"
  /// Deprecated parameter: the type of the device.
  public static let deviceType = "deviceType"
  /// Deprecated parameter: the user of the device.
  public static let deviceUser = "deviceUser"
  /// Deprecated parameter: the app's id.
  public static let appID = "appId"
  /// The app's version, sent by older clients.
  public static let appVersion = "appVersion"
  /// The URL to show beside the code, sent by older clients.
  public static let registrationURL = "registrationURL"
  /// The provider that the viewer chose on the device.
  public static let provider = "mvpd"
  /// The provider, as browser requests and `freepreview` name it.
  public static let providerID = "mso_id"
  /// The registration code in browser requests.
  public static let regcode = "reg_code"
  /// The domain of the page that started the sign-in.
  public static let domainName = "domain_name"
  /// The address to which the browser is redirected at the end.
  public static let redirectURL = "redirect_url"
  /// The ticket that proves to `/logout` that the device itself requested the sign-out; see
  /// ``PairingHeader/logoutTicket``.
  public static let logoutTicket = "ticket"
  /// Says that the client has no Flash; always `true`.
  public static let noFlash = "noflash"
  /// Says that the client uses no iframe; always `true`.
  public static let noFrame = "no_iframe"
  /// The requested lifetime of a registration code, in seconds.
  public static let lifetime = "ttl"
  /// With the value `number`, requests number matching: the viewer types a number that the device shows.
  public static let match = "match"
  /// For long polling: the service answers when the code's sequence number is greater than this one.
  public static let after = "after"
  /// The resource that the viewer wants to watch.
  public static let resource = "resource"
  /// Additional data of the app: the identity for a promotional pass, or the `data` of a sign-in.
  public static let genericData = "generic_data"
  /// The format of the response, `json` or `xml`.
  public static let format = "format"
  /// A registered client's access token, if it is not in the header.
  public static let accessToken = "access_token"
  /// The name of the application profile, a set of lifetimes and limits that the operator configured.
  public static let applicationProfile = "applicationProfile"
  /// The id of the visitor in the app's analytics.
  public static let visitorID = "visitorID"

  /// The box's signed answer to a profile request (the service's challenge).
  ///
  /// In the original protocol, this parameter has the SAML response of the system's TV provider account.
  public static let platformResponse = "SAMLResponse"
  /// The public half of a box's key as a base64 SubjectPublicKeyInfo.
  public static let publicKey = "publicKey"
  /// The name of an app on a box, which the box's owner chose.
  public static let app = "app"
  /// The requestor for which an app on a box may use the box's account.
  public static let appRequestor = "appRequestor"
  /// A viewer's decision: `granted`, `denied` or `undetermined`; or `asked` if the app waits for a decision.
  public static let permission = "permission"
  /// How long ago the viewer decided, in milliseconds.
  public static let decisionAge = "decisionAge"
  /// The decision as a text that the box's key has signed; the service then reads no other field of it.
  public static let decision = "decision"
  /// `signed` at the registration of a box's key: the box signs each decision with it.
  public static let decisions = "decisions"

  /// All parameter names above.
  ///
  /// Any other parameter is an app's own and must not influence the request.
  public static let all: Set<String> = [
    requestor, signedRequestorID, requestorID, deviceID, deviceInfo, deviceType, deviceUser, appID,
    appVersion, registrationURL, provider, providerID, regcode, domainName, redirectURL, logoutTicket,
    noFlash, noFrame, lifetime, match, after, resource, genericData, format, accessToken, applicationProfile,
    visitorID, platformResponse, publicKey, app, appRequestor,
    permission, decisionAge, decision, decisions,
  ]
}

/// The names of headers that the protocol adds to HTTP.
public enum PairingHeader {
  public static let deviceInfo = "X-Device-Info"
  /// The device's IP address, in a request that an app publisher's server makes for it.
  public static let forwardedFor = "X-Forwarded-For"
  /// The id of the response, for support requests.
  public static let requestID = "Adobe-Request-Id"
  /// Has the value `full` if the service checked every requested resource.
  public static let responseConfidence = "Adobe-Response-Confidence"
  /// In the response to a sign-out: a ticket with which the viewer's browser is signed out without a confirmation.
  public static let logoutTicket = "Regent-Logout-Ticket"
  /// The viewer's identity for a promotional pass.
  public static let temporaryPassIdentity = "AP-TempPass-Identity"
  /// The id of the visitor in the app's analytics.
  public static let visitorID = "AP-Visitor-Identifier"
  /// What allowed the request when the provider did not: `temppass` or `degradation`; for a sign-in also
  /// ``platformSource``.
  public static let decisionSource = "AP-Decision-Source"
  /// The header's value for a sign-in that was made with the box's shared account (the platform account).
  public static let platformSource = "platform"
  /// The enhanced error code of a refusal, for apps of requestors without enhanced errors (an extension of Regent).
  public static let decisionReason = "AP-Decision-Reason"
}
